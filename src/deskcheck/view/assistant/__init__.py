"""Running kernels, asked from outside what their variables hold, and an MCP server for assistants."""
