package uri

// This file implements the three algorithms of the documents for removing dot segments. Each
// function works in place, in linear time, and returns the new length of the path.

// removeDots removes all dot segments (RFC 3986, section 5.2.4). It treats ExcessKeep like
// ExcessDrop.
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

func hasParent(p []byte) bool {
	for i := 1; i < len(p); i++ {
		if p[i-1] == '.' && p[i] == '.' {
			return true
		}
	}
	return false
}

// segmentEnd returns the end of the segment that begins at i. If p[i] is a slash, it counts as part
// of the segment.
func segmentEnd(p []byte, i int) int {
	for i++; i < len(p) && p[i] != '/'; {
		i++
	}
	return i
}

// parent returns the length of p[:w] without its last segment and the slash before that.
func parent(p []byte, w int) int {
	for w--; w > 0 && p[w] != '/'; {
		w--
	}
	return max(w, 0)
}

// removeSegments removes "./", a final "." and "segment/.." from a merged path, from left to right.
// It implements steps 6d to 6g of the draft of 1997, section 5.2, and steps 3 to 6 for merging
// paths in the draft of 2003, section 5.2.
func removeSegments(p []byte, excess Excess) (int, error) {
	root := 0
	if len(p) > 0 && p[0] == '/' {
		root = 1
	}
	w, kept := root, root // the segments before offset kept are ".." segments above the root
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

// removeElements removes "/xxx/.." and "/." (draft of 1993, Partial form, step 7). Unlike the later
// algorithms, removeElements leaves no slash at the end: "/a/b/.." becomes "/a". It does not change
// text after a question mark.
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
