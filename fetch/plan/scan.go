package plan

// all reports whether s is not empty and all its bytes satisfy kind.
func all(s string, kind func(byte) bool) bool {
	for i := range len(s) {
		if !kind(s[i]) {
			return false
		}
	}
	return s != ""
}
