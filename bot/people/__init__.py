"""Who somebody is to nuan, what they promised, and what they asked of her. Pure."""
