"""What happened? Stored events become lines, and lines become the <ctx> a model reads; nothing is loaded or stored."""
