"""Hosts made of network namespaces, with a switch between them that delivers every frame a given time later."""
