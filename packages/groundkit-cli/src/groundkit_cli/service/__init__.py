"""The read-only service: four operations, over REST and over MCP."""
