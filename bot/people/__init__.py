"""Who somebody is to nuan, and what they asked of her. Pure."""
