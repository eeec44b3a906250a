"""The paper's benchmark: its protocols, a runner that can be stopped and goes on, its tables and figures."""
