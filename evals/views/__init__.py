"""Pages of what happened: fetch, call, answer."""
