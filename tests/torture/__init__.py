"""Long runs that hurt: `make torture`. Nothing of it is on the path of `make test`."""
