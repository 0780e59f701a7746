"""What users see: findings put together, and drawn in each format."""
