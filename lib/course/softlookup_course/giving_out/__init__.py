"""What a course gives to students: assignments packed for a platform, and the answers after the deadline."""
