"""The pictures of docs/explanations, readable on a phone, on light and on dark ground."""
