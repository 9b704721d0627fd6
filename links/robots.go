package links

import (
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/ascii"
)

// Limits of a file robots.txt.
const (
	maxRobots     = 500 << 10 // maximum number of bytes that are read (RFC 9309, section 2.5)
	maxRules      = 2000      // maximum number of rules; further rules are ignored
	maxRulePath   = 2 << 10   // maximum length of the path of a rule in bytes
	maxRobotDelay = time.Minute
)

type robotsRule struct {
	Path  string `json:"path"` // may contain "*", and "$" at the end
	Allow bool   `json:"allow,omitempty"`
}

// robots are the rules of a file robots.txt for an agent.
type robots struct {
	Rules []robotsRule  `json:"rules,omitempty"`
	Delay time.Duration `json:"delay,omitempty"` // minimum time between two requests
}

// parseRobots reads the rules for an agent from a file robots.txt (RFC 9309). The agent is a
// product token in lower case. It ignores lines that it does not understand.
//
// If several groups are for the agent, their rules are combined. If no group is for the agent, the
// groups for "*" apply.
func parseRobots(text, agent string) robots {
	text = strings.TrimPrefix(text[:min(len(text), maxRobots)], "\ufeff")
	var own, others robots
	var isOwn, isOthers, found bool // whether the current group is for the agent or for "*"; whether there was a group for the agent
	inRules := true                 // the next User-agent line starts a group
	for len(text) > 0 {
		end := strings.IndexAny(text, "\r\n")
		line := text
		if end < 0 {
			text = ""
		} else {
			line, text = text[:end], text[end+1:]
		}
		line, _, _ = strings.Cut(line, "#")
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key, value = strings.ToLower(trimBlank(key)), trimBlank(value)
		switch key {
		case "user-agent", "useragent", "user agent":
			if inRules {
				isOwn, isOthers, inRules = false, false, false
			}
			switch productToken(value) {
			case agent:
				isOwn, found = true, true
			case "*":
				isOthers = true
			}
		case "allow", "disallow", "crawl-delay":
			inRules = true
			if isOwn {
				own.add(key, value)
			}
			if isOthers {
				others.add(key, value)
			}
		}
	}
	if found {
		return own
	}
	return others
}

func trimBlank(s string) string { return strings.Trim(s, " \t") }

// productToken returns the product token at the beginning of a User-agent value, in lower case, or
// "*" for all agents.
func productToken(value string) string {
	if strings.HasPrefix(value, "*") {
		return "*"
	}
	n := 0
	for n < len(value) && (ascii.IsLetter(value[n]) || value[n] == '-' || value[n] == '_') {
		n++
	}
	return strings.ToLower(value[:n])
}

func (r *robots) add(key, value string) {
	if key == "crawl-delay" {
		if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 {
			r.Delay = max(r.Delay, time.Duration(min(seconds, maxRobotDelay.Seconds())*float64(time.Second)))
		}
		return
	}
	if value == "" || len(value) > maxRulePath || len(r.Rules) == maxRules {
		return
	}
	r.Rules = append(r.Rules, robotsRule{unescapedPath(value), key == "allow"})
}

// allows reports whether a path, with its query, may be requested. The longest rule that matches
// decides. Of two equally long rules, the rule that allows the path decides.
func (r *robots) allows(path string) bool {
	path = unescapedPath(path)
	if path == "/robots.txt" {
		return true
	}
	best, allow := -1, true
	for _, rule := range r.Rules {
		if n := len(rule.Path); n < best || n == best && !rule.Allow || !matchesRule(rule.Path, path) {
			continue
		}
		best, allow = len(rule.Path), rule.Allow
	}
	return allow
}

// matchesRule reports whether a path matches the path of a rule. Each star matches as little text
// as possible, so each part of the rule takes a time that is linear in the length of the path.
func matchesRule(rule, path string) bool {
	rule, anchored := strings.CutSuffix(rule, "$")
	first, rest, star := strings.Cut(rule, "*")
	path, ok := strings.CutPrefix(path, first)
	if !ok {
		return false
	}
	for star {
		var part string
		part, rest, star = strings.Cut(rest, "*")
		if !star && anchored {
			return strings.HasSuffix(path, part)
		}
		i := strings.Index(path, part)
		if i < 0 {
			return false
		}
		path = path[i+len(part):]
	}
	return !anchored || path == ""
}

// unescapedPath returns the form in which paths of rules and requests are compared (RFC 9309,
// section 2.2.2). Unreserved and non-ASCII characters are not escaped in it.
func unescapedPath(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c, ok := unescapedOctet(s[i:]); ok {
			b.WriteByte(c)
			i += 2
			continue
		}
		if ascii.IsEscape(s, i) {
			b.WriteString(strings.ToUpper(s[i : i+3]))
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func unescapedOctet(s string) (byte, bool) {
	if !ascii.IsEscape(s, 0) {
		return 0, false
	}
	c := ascii.Unhex(s[1])<<4 | ascii.Unhex(s[2])
	return c, c >= 0x80 || ascii.IsAlnum(c) || strings.IndexByte("-._~", c) >= 0
}
