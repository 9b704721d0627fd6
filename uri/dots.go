package uri

// This file has the three algorithms by which the documents remove dot segments. Each works in
// place, in linear time, and returns the new length.

// removeDots removes all dot segments of a path as in RFC 3986, 5.2.4. ExcessKeep
// has no effect.
func removeDots(p []byte, excess Excess) (int, error) {
	w, r := 0, leadingDots(p)
	if r > 1 && excess == ExcessRefuse && hasParent(p[:r]) {
		return 0, ErrExcess
	}
	for r < len(p) {
		n := segmentEnd(p, r)
		switch string(p[r:n]) {
		case "/.":
			if n == len(p) {
				p[w] = '/'
				w++
			}
		case "/..":
			if w == 0 && excess == ExcessRefuse {
				return 0, ErrExcess
			}
			w = parent(p, w)
			if n == len(p) {
				p[w] = '/'
				w++
			}
		default:
			w += copy(p[w:], p[r:n])
		}
		r = n
	}
	return w, nil
}

// leadingDots returns the length of the dot segments at the start of a path
// without a leading slash.
func leadingDots(p []byte) int {
	r := 0
	for r < len(p) && p[r] != '/' {
		n := segmentEnd(p, r)
		if seg := string(p[r:n]); seg != "." && seg != ".." {
			return r
		}
		r = min(n+1, len(p))
	}
	return r
}

// hasParent reports whether p, which consists of dot segments, includes "..".
func hasParent(p []byte) bool {
	for i := 1; i < len(p); i++ {
		if p[i-1] == '.' && p[i] == '.' {
			return true
		}
	}
	return false
}

// segmentEnd returns the end of the segment that begins at i. A slash at i belongs to the
// segment.
func segmentEnd(p []byte, i int) int {
	for i++; i < len(p) && p[i] != '/'; {
		i++
	}
	return i
}

// parent returns the length of p[:w] without its last segment and without the slash before that
// segment.
func parent(p []byte, w int) int {
	for w--; w > 0 && p[w] != '/'; {
		w--
	}
	return max(w, 0)
}

// removeSegments removes the dot segments of a merged path from the left: "./", a final ".", and
// "segment/..". These are steps 6d to 6g in the draft of 1997 (5.2), and merge steps 3 to 6 in the
// draft of 2003 (5.2). The parameter excess says whether excess ".." segments stay at the start, are
// dropped, or are an error.
func removeSegments(p []byte, excess Excess) (int, error) {
	root := 0
	if len(p) > 0 && p[0] == '/' {
		root = 1
	}
	w, kept := root, root // the segments before kept are excess ".."
	for r := root; r < len(p); {
		n := r
		for n < len(p) && p[n] != '/' {
			n++
		}
		next := min(n+1, len(p))
		switch seg := string(p[r:n]); {
		case seg == ".":
		case seg == ".." && w > kept:
			for w--; w > kept && p[w-1] != '/'; {
				w--
			}
		case seg == ".." && excess == ExcessRefuse:
			return 0, ErrExcess
		case seg == ".." && excess == ExcessDrop:
		default:
			w += copy(p[w:], p[r:next])
			if seg == ".." {
				kept = w
			}
		}
		r = next
	}
	return w, nil
}

// removeElements removes "/xxx/.." and "/." as in step 7 of the draft of 1993 (Partial form), so that
// "/a/b/.." becomes "/a", without a slash at the end. It does not change the search, which begins at
// the question mark. The parameter excess says whether excess "/.." stay, are dropped, or are an
// error.
func removeElements(p []byte, excess Excess) (int, error) {
	end := 0
	for end < len(p) && p[end] != '?' {
		end++
	}
	r := 0
	for r < end && p[r] != '/' { // the first element, without a slash, stays
		r++
	}
	w, kept := r, r
	for r < end {
		n := segmentEnd(p[:end], r)
		switch elem := string(p[r:n]); {
		case elem == "/.":
		case elem == "/.." && w > kept:
			for w--; p[w] != '/'; {
				w--
			}
		case elem == "/.." && excess == ExcessRefuse:
			return 0, ErrExcess
		case elem == "/.." && excess == ExcessDrop:
		default:
			w += copy(p[w:], p[r:n])
			if elem == "/.." {
				kept = w
			}
		}
		r = n
	}
	return w + copy(p[w:], p[end:]), nil
}
