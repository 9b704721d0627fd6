package htaccess

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

const maxLine = 64 << 10 // bytes of a line with its continuations

type line struct {
	number int
	text   string
	first  string // the line of the file in which the directive begins
	name   string // in lower case; for a section "<ifmodule" or "</ifmodule"
	rest   string // the arguments
}

func readLines(r io.Reader) ([]line, error) {
	var all []line
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	for number := 1; in.Scan(); number++ {
		begin, text := number, in.Text()
		first := text
		for strings.HasSuffix(text, `\`) && in.Scan() {
			number++
			text = text[:len(text)-1] + in.Text()
		}
		text = strings.TrimFunc(strings.TrimPrefix(text, "\ufeff"), isSpace)
		if text == "" || text[0] == '#' {
			continue
		}
		name, rest := text, ""
		if i := strings.IndexFunc(text, isSpace); i >= 0 {
			name, rest = text[:i], strings.TrimLeftFunc(text[i:], isSpace)
		}
		if strings.HasPrefix(name, "<") {
			rest = strings.TrimSuffix(rest, ">")
			name = strings.TrimSuffix(name, ">")
		}
		all = append(all, line{begin, text, first, strings.ToLower(name), rest})
	}
	return all, in.Err()
}

type partError struct {
	part string // as in the line
	error
}

func (e *partError) Unwrap() error { return e.error }

func about(part string, err error) error {
	if err == nil {
		return nil
	}
	return &partError{part, err}
}

// column returns the column of the argument to which an error refers. If the error does not specify
// an argument, the result is the column of the directive. If the argument is on a continuation
// line, the result is 0.
func (l line) column(err error) int {
	var e *partError
	name := strings.IndexFunc(l.first, func(r rune) bool { return !isSpace(r) && r != '\ufeff' })
	if !errors.As(err, &e) || e.part == "" {
		return name + 1
	}
	after := min(name+len(l.name), len(l.first))
	if i := strings.Index(l.first[after:], e.part); i >= 0 {
		return after + i + 1
	}
	return 0
}

func isSpace(r rune) bool { return r == ' ' || '\t' <= r && r <= '\r' }

// rewriteArguments returns the first three arguments of a mod_rewrite directive. A backslash
// escapes a space.
func rewriteArguments(s string) (all []string) {
	for len(all) < 3 {
		s = strings.TrimLeftFunc(s, isSpace)
		if s == "" {
			break
		}
		quote := byte(0)
		if s[0] == '"' || s[0] == '\'' {
			quote, s = s[0], s[1:]
		}
		i := 0
		for ; i < len(s); i++ {
			if quote == 0 && isSpace(rune(s[i])) || quote != 0 && s[i] == quote {
				break
			}
			if s[i] == '\\' && i+1 < len(s) && isSpace(rune(s[i+1])) {
				i++
			}
		}
		all = append(all, s[:i])
		s = s[min(i+1, len(s)):]
	}
	return all
}

// arguments returns all arguments of a directive of any other module.
func arguments(s string) (all []string) {
	for {
		s = strings.TrimLeftFunc(s, isSpace)
		if s == "" {
			return all
		}
		quote := byte(0)
		if s[0] == '"' || s[0] == '\'' {
			quote, s = s[0], s[1:]
		}
		var b strings.Builder
		i := 0
		for ; i < len(s); i++ {
			if quote == 0 && isSpace(rune(s[i])) || quote != 0 && s[i] == quote {
				break
			}
			if s[i] == '\\' && i+1 < len(s) && (s[i+1] == '\\' || quote != 0 && s[i+1] == quote) {
				i++
			}
			b.WriteByte(s[i])
		}
		all = append(all, b.String())
		s = s[min(i+1, len(s)):]
	}
}
