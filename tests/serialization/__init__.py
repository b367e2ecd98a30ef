"""Schemas between bytes and records."""
