"""What is handed over: a client snapshot in, a PDF out (context → HTML → PDF). Nothing here asks the database."""
