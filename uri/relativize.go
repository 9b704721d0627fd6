package uri

import "strings"

// Relativize returns the shortest reference that resolves to target when u is the base. For
// example, from http://a/b/c to http://a/b/d it returns "d". Relativize returns false if there is
// no such reference, for example if u has no scheme, the dialects differ, or target has dot
// segments, which resolution would remove in RFC 3986.
//
// If several references are equally short, Relativize prefers those that depend less on the base.
// It never returns a reference that means the current document, or a reference that leads to
// another host.
func (u URI) Relativize(target URI) (URI, bool) {
	if u.scheme == 0 || u.dialect != target.dialect || target.scheme == 0 {
		return URI{}, false
	}
	var best URI
	for _, s := range relativeForms(u, target) {
		if best.IsValid() && len(s) >= len(best.s) {
			continue
		}
		ref, f := parse(u.dialect, s)
		if f.code != 0 {
			continue
		}
		if got, err := u.Resolve(ref); err == nil && got.s == target.s {
			best = ref
		}
	}
	return best, best.IsValid()
}

// relativeForms returns candidates for the shortest reference. A candidate may resolve to a
// different URI, so the caller must check it.
func relativeForms(base, target URI) []string {
	s := target.s
	forms := []string{s}
	if !strings.HasPrefix(s, base.s[:base.scheme+1]) {
		return forms
	}
	forms = append(forms, s[target.path:], s[target.afterScheme():]) // "/path", "//authority/path"
	if base.s[:base.path] != s[:target.path] {
		return forms
	}
	tail := s[target.query:]
	forms = append(forms, s[target.frag:], tail, "."+tail, "./"+s[target.path:], "/."+s[target.path:])
	return append(forms, climbingPaths(base, target)...)
}

// climbingPaths returns relative paths that begin with "..".
func climbingPaths(base, target URI) []string {
	dir := cleanDirectory(base)
	path, tail := target.Path(), target.s[target.query:]
	common := commonDirectory(dir, path)
	up := strings.Count(dir[common:], "/")
	down := path[common:]
	forms := []string{down + tail, "./" + down + tail}
	if up > 0 {
		dots := strings.Repeat("../", up)
		forms = append(forms, dots+down+tail, dots[:len(dots)-1]+tail, dots+"./"+down+tail)
	}
	if grammars[base.dialect].schemeForms {
		forms = append(forms, elements(dir, path, tail)...)
	}
	return forms
}

// elements returns candidates for [Draft1993], if the target does not end with a slash. In this
// dialect, resolving ".." also removes the slash before it.
func elements(dir, path, tail string) []string {
	dir, path = strings.TrimSuffix(dir, "/"), path+"/"
	common := commonDirectory(dir+"/", path)
	if common != len(path) {
		return nil
	}
	up := strings.Count((dir + "/")[common:], "/")
	if up == 0 {
		return []string{"." + tail}
	}
	return []string{strings.Repeat("../", up-1) + ".." + tail}
}

func cleanDirectory(base URI) string {
	const probe = "x"
	ref, _ := parse(base.dialect, probe)
	u, err := base.Resolve(ref)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(u.Path(), probe)
}

func commonDirectory(dir, path string) int {
	n := 0
	for i := 0; i < len(dir) && i < len(path) && dir[i] == path[i]; i++ {
		if dir[i] == '/' {
			n = i + 1
		}
	}
	return n
}
