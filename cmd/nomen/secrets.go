package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/uri"
)

// Values of the configuration can contain secrets, such as a password in a URL, in a list like
// "host=db password=x", or in an argument of a hook. The function [hideSecrets] hides the secrets
// in a value. The method [cli.hide] hides them in messages, which may quote any part of a value. It
// is better to hide too much than too little. If the end of a password is ambiguous, the longest
// possible password is hidden.

const hiddenSecret = "xxxxx"

type span struct{ start, end int }

func hideSecrets(value string) string { return hideSpans(value, secretSpans(value)) }

func hideSpans(text string, spans []span) string {
	var b strings.Builder
	last := 0
	for _, s := range spans {
		b.WriteString(text[last:s.start] + hiddenSecret)
		last = s.end
	}
	return b.String() + text[last:]
}

func secretSpans(value string) (all []span) {
	found := append(urlSecrets(value), assignedSecrets(value)...)
	if !strings.Contains(value, "://") {
		found = append(found, bareSecret(value)...)
	}
	slices.SortFunc(found, func(a, b span) int { return a.start - b.start })
	for _, s := range found {
		switch last := len(all) - 1; {
		case s.start >= s.end:
		case last >= 0 && s.start < all[last].end:
			all[last].end = max(all[last].end, s.end)
		default:
			all = append(all, s)
		}
	}
	return all
}

// urlSecrets returns the positions of passwords in the URLs that a value contains. A URL at the
// beginning of the value extends to the end of the value, even across spaces. Any other URL ends at
// a space or a quotation mark.
func urlSecrets(value string) (all []span) {
	for from := 0; ; {
		i := strings.Index(value[from:], "://")
		if i < 0 {
			return all
		}
		start, end := from+i+len("://"), len(value)
		scheme := value[strings.LastIndexFunc(value[:from+i], isNotLetter)+1 : from+i]
		if within := from + i - len(scheme); within > 0 {
			if n := strings.IndexAny(value[start:], " \t\r\n\"'`"); n >= 0 {
				end = start + n
			}
		}
		if s := userinfoSecret(strings.ToLower(scheme), value[start:end]); s.end > 0 {
			all = append(all, span{start + s.start, start + s.end})
		}
		from = start
	}
}

func isNotLetter(r rune) bool { return !unicode.IsLetter(r) }

// userinfoSecret returns the position of the password in rest, the part of a URL after "://". The
// password is between the first colon and the last "@". In the URL of a database, the password may
// contain slashes. If there is no "@" and the port is not a number, the port may be the beginning
// of a password, and everything from there is a secret. In an http or https URL, a user name
// without a password may be a token, and is a secret as well.
func userinfoSecret(scheme, rest string) span {
	colon, at, host := strings.IndexByte(rest, ':'), strings.LastIndexByte(rest, '@'), strings.IndexAny(rest, "/?#")
	if host < 0 {
		host = len(rest)
	}
	switch database := strings.HasPrefix(scheme, "postgres"); {
	case colon >= 0 && colon < at && (database || colon < host):
		return span{colon + 1, at}
	case at >= 0 && at < host && (scheme == "http" || scheme == "https"):
		return span{0, at}
	}
	if i := strayPort(rest[:host]); i > 0 {
		return span{i, len(rest)}
	}
	return span{}
}

// strayPort returns the offset of the first port that is not a number. The parameter hosts is a
// comma-separated list of hosts with ports. The result is 0 if all ports are numbers.
func strayPort(hosts string) int {
	from := 0
	for h := range strings.SplitSeq(hosts, ",") {
		bare := h[strings.LastIndexByte(h, ']')+1:]
		_, port, ok := strings.Cut(bare, ":")
		if _, err := strconv.ParseUint(port, 10, 16); ok && port != "" && err != nil {
			return from + len(h) - len(port)
		}
		from += len(h) + 1
	}
	return 0
}

// bareSecret returns the position of the password in a value of the form USER:PASSWORD@HOST.
func bareSecret(value string) []span {
	colon, at := strings.IndexByte(value, ':'), strings.LastIndexByte(value, '@')
	if colon < 0 || at < colon {
		return nil
	}
	switch strings.ToLower(value[:colon]) {
	case "mailto", "unix", "fd", "pebble", "urn":
		return nil
	}
	return []span{{colon + 1, at}}
}

// assignedSecrets returns the positions of secrets that are assigned to a name, as in "password=x"
// or in the query of a URL.
func assignedSecrets(value string) (all []span) {
	inURL := strings.Contains(value, "://") && !strings.ContainsAny(value[:strings.Index(value, "://")], " =")
	for i := range len(value) {
		if value[i] != '=' || !isSecretName(nameBefore(value[:i])) {
			continue
		}
		start := len(value) - len(strings.TrimLeft(value[i+1:], " \t"))
		all = append(all, span{start, start + assignedLength(value[start:], inURL)})
	}
	return all
}

func nameBefore(text string) string {
	text = strings.TrimRight(text, " \t")
	return text[strings.LastIndexAny(text, " \t\r\n?&;,'\"")+1:]
}

func isSecretName(name string) bool {
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	name = strings.ToLower(strings.TrimLeft(name, "-"))
	for _, part := range []string{"password", "passwd", "passphrase", "secret", "token"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return name == "pass" || name == "pwd" || name == "pw"
}

// assignedLength returns the length of the assigned value at the beginning of a text. In a URL, the
// value ends at the next "&". Elsewhere, a quoted value ends at the closing quote, and any other
// value ends at the next assignment.
func assignedLength(text string, inURL bool) int {
	if inURL {
		if i := strings.IndexByte(text, '&'); i >= 0 {
			return i
		}
		return len(text)
	}
	quote := byte(0)
	if text != "" && (text[0] == '\'' || text[0] == '"') {
		quote = text[0]
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[i-1] == '\\' || text[i] != ' ' && text[i] != '\t' && text[i] != '\n':
		case quote != 0 && (i < 2 || text[i-1] != quote):
		case quote != 0 || assigns(text[i:]):
			return i
		}
	}
	return len(text)
}

func assigns(text string) bool {
	name, _, ok := strings.Cut(strings.TrimLeft(text, " \t\n"), "=")
	return ok && strings.IndexFunc(strings.TrimRight(name, " \t"), func(r rune) bool { return r != '_' && isNotLetter(r) }) < 0
}

// hideListed hides the secrets in the values of a list. A value that follows an option such as
// "--password" is a secret.
func hideListed(values []string) []string {
	all := make([]string, len(values))
	for i, v := range values {
		if all[i] = hideSecrets(v); i > 0 && strings.HasPrefix(values[i-1], "-") && !strings.Contains(values[i-1], "=") && isSecretName(values[i-1]) {
			all[i] = hiddenSecret
		}
	}
	return all
}

func hideJSON(text []byte) string {
	var b strings.Builder
	for {
		start := bytes.IndexByte(text, '"')
		if start < 0 {
			return b.String() + string(text)
		}
		end := start + 1
		for text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		var plain string
		_ = json.Unmarshal(text[start:end+1], &plain) // cannot fail: the text is valid
		b.WriteString(string(text[:start]) + tomlString(plain))
		text = text[end+1:]
	}
}

// hide removes the secrets of all configuration values from a message. The message may quote only a
// part of a value, as in `invalid port ":x" after host`.
func (c *cli) hide(text string) string { return hideValues(text, c.values()) }

// hideValues removes the secrets of the given values from a message. It first replaces occurrences
// of whole values, and then occurrences of parts of secrets.
func hideValues(text string, values []string) string {
	for _, value := range values {
		if shown := hideSecrets(value); shown != value {
			text = strings.NewReplacer(value, shown, inQuotes(value), inQuotes(shown), printable(value), printable(shown)).Replace(text)
		}
	}
	for _, value := range values {
		spans := secretSpans(value)
		text = hideParts(text, value, spans)
		for _, s := range spans {
			if plain, err := url.PathUnescape(value[s.start:s.end]); err == nil {
				text = hideParts(text, plain, []span{{0, len(plain)}})
			}
		}
	}
	return text
}

// words is like the function words, but hides the secrets of the configuration. It does not change
// the positions of errors in the configuration file.
func (c *cli) words(err error) string {
	all := flatten(err)
	if len(all) > 1 {
		texts := make([]string, len(all))
		for i, e := range all {
			texts[i] = c.words(e)
		}
		return strings.Join(texts, "; ")
	}
	text, place := words(err), ""
	var at placeError
	if errors.As(err, &at) && strings.HasPrefix(text, printable(at.place())) {
		place = printable(at.place())
	}
	return place + c.hide(text[len(place):])
}

// caretOn is like the function caretOn, but returns "" if the input contains a secret.
func (c *cli) caretOn(w io.Writer, err error) string {
	var bad uri.InputError
	if errors.As(err, &bad) && c.hide(bad.Violation().Input) != bad.Violation().Input {
		return ""
	}
	return caretOn(w, err)
}

func inQuotes(s string) string {
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}

// values returns the option values from all sources, including invalid values.
func (c *cli) values() (all []string) {
	if c.flags == nil { // the command line is invalid
		for _, a := range c.arguments {
			_, value, _ := strings.Cut(a, "=")
			all = append(all, a, value)
		}
	} else {
		c.flags.VisitAll(func(f *pflag.Flag) {
			if list, ok := f.Value.(pflag.SliceValue); ok {
				all = append(all, list.GetSlice()...)
			} else if f.Changed {
				all = append(all, f.Value.String())
			}
		})
	}
	for _, entry := range os.Environ() {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, environmentPrefix) {
			all = append(all, value)
		}
	}
	if c.file != nil {
		all = append(all, c.file.texts...)
	}
	return all
}

func (c *cli) secretValues() []string {
	return slices.DeleteFunc(c.values(), func(v string) bool { return len(secretSpans(v)) == 0 })
}

// shortPart is the minimum length of a part of a secret that is hidden, in bytes.
const shortPart = 3

// hideParts hides each word of a message that also occurs in a value, if the occurrence overlaps a
// secret. It then splits the message at additional separators, and hides words again.
func hideParts(text, value string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	value = strings.ToLower(value)
	const spaces, inWords = " \t\n\"'`()[]<>;,=\\", ":.@/?#&%"
	for _, separators := range []string{spaces, spaces + inWords} {
		var b strings.Builder
		for text != "" {
			end := strings.IndexAny(text, separators)
			if end < 0 {
				end = len(text)
			}
			word := strings.Trim(text[:end], ":.")
			if len(word) >= shortPart && overlaps(value, strings.ToLower(word), spans) {
				b.WriteString(strings.Replace(text[:end], word, hiddenSecret, 1))
			} else {
				b.WriteString(text[:end])
			}
			next := min(end+1, len(text)) // separators take one byte
			b.WriteString(text[end:next])
			text = text[next:]
		}
		text = b.String()
	}
	return text
}

func overlaps(value, part string, spans []span) bool {
	for from := 0; ; from++ {
		i := strings.Index(value[from:], part)
		if i < 0 {
			return false
		}
		from += i
		if slices.ContainsFunc(spans, func(s span) bool { return from < s.end && s.start < from+len(part) }) {
			return true
		}
	}
}
