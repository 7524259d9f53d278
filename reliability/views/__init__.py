"""Pages of the site: clients, people, tokens."""
