"""What comes back? Query, candidates and ranking; reads no table itself."""
