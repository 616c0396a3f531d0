"""In which order? The only place where effects are ordered; what to decide is asked of the rooms."""
