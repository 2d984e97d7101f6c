"""Rerankers that run in this process."""
