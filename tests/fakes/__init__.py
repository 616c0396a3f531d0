"""What stands outside nuan, played by the tests: wires and clocks are faked, never nuan's own code."""
