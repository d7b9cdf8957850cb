EQUAL = []
