package htaccess

import "strings"

// constants evaluates a SetEnvIf directive. If the directive applies to all requests, the variables
// get constant values. Otherwise their values are unknown.
func (c *converter) constants(l line) {
	if l.name != "setenvif" && l.name != "setenvifnocase" {
		return
	}
	args := arguments(l.rest)
	if len(args) < 3 {
		return
	}
	always := strings.EqualFold(args[0], "Request_URI")
	switch args[1] {
	case "^", "$", ".*", "^.*", "^.*$", "(.*)", "^(.*)$", ".+", "^.+$", "/", "^/":
	default:
		always = false
	}
	for _, arg := range args[2:] {
		key, value, _ := strings.Cut(arg, "=")
		if key = strings.ToUpper(key); !always || strings.Contains(value, "$") {
			c.env[key] = unknownValue
		} else if c.env[key] != unknownValue {
			c.env[key] = value
		}
	}
}

const unknownValue = "\x00"

func (c *converter) withConstants(s string) string {
	const begin = "%{ENV:"
	from := 0
	for {
		i := strings.Index(strings.ToUpper(s[from:]), begin)
		if i < 0 {
			return s
		}
		i += from
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			return s
		}
		value, ok := c.env[strings.ToUpper(s[i+len(begin):i+end])]
		if from = i + end; ok && value != unknownValue {
			value = strings.NewReplacer("$", `\$`, "%", `\%`, " ", `\ `).Replace(value)
			s = s[:i] + value + s[i+end+1:]
			from = i + len(value)
		}
	}
}
