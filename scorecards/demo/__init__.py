"""The demo: an invented client with a finished engagement, loaded through the same doors as any other."""
