package layout

import "github.com/nomen-project/nomen/uri"

// Broken returns an error about the text between two offsets.
func Broken(from, to int, rule, message string) uri.Finding {
	return uri.Finding{Code: uri.FindingScheme, Severity: uri.SeverityError, Offset: from, End: to, Rule: rule, Message: message}
}

// Refuse returns a list with one error, as the result of a check.
func Refuse(from, to int, rule, message string) []uri.Finding {
	return []uri.Finding{Broken(from, to, rule, message)}
}

// RefuseAs is like [Refuse], but with the given code.
func RefuseAs(code uri.FindingCode, from, to int, rule, message string) []uri.Finding {
	found := Refuse(from, to, rule, message)
	found[0].Code = code
	return found
}

// Warn returns a warning about text that can deceive or harm the user.
func Warn(code uri.FindingCode, from, to int, rule, message string) uri.Finding {
	return uri.Finding{Code: code, Severity: uri.SeverityWarning, Offset: from, End: to, Rule: rule, Message: message}
}

// Remark returns a remark about text that could be improved.
func Remark(code uri.FindingCode, from, to int, rule, message string) uri.Finding {
	return uri.Finding{Code: code, Severity: uri.SeverityInfo, Offset: from, End: to, Rule: rule, Message: message}
}

// Instead returns a copy of f that suggests the text right as a replacement.
func Instead(f uri.Finding, right string) uri.Finding {
	f.Right = right
	return f
}

// NeedServer returns an error unless the URI has two slashes and a host.
func (l *Layout) NeedServer(rule string) []uri.Finding {
	switch {
	case !l.Authority:
		return Refuse(l.Rest, l.Rest, rule, "missing // and host after the colon")
	case l.Host < 0:
		return Refuse(l.Rest+2, l.Path, rule, "the authority must be a host")
	case l.Host == l.HostEnd:
		return Refuse(l.Host, l.Host, rule, "the host must not be empty")
	}
	return nil
}

// NeedHostOnly returns an error unless the URI has two slashes and a host, and no user information.
func (l *Layout) NeedHostOnly(rule string) []uri.Finding {
	if bad := l.NeedServer(rule); bad != nil {
		return bad
	}
	return l.RefuseUser(rule)
}

// RefuseUser returns an error if the URI has user information.
func (l *Layout) RefuseUser(rule string) []uri.Finding {
	if l.User < 0 {
		return nil
	}
	return Refuse(l.User, l.UserEnd+1, rule, "user information is not allowed")
}

// RefuseControls returns an error if the URI has a percent-encoding that, once decoded, would end a
// line or a field of the protocol.
func (l *Layout) RefuseControls(rule, protocol string) []uri.Finding {
	at := EscapedControl(l.Text, l.Rest, l.End())
	if at < 0 {
		return nil
	}
	return RefuseControl(at, rule, protocol)
}

// RefuseControl returns an error about a percent-encoded control character.
func RefuseControl(at int, rule, protocol string) []uri.Finding {
	return RefuseAs(CodeInjection, at, at+3, rule, "a control character cannot be sent in "+protocol)
}

// RefuseHeaderControls returns an error about a percent-encoded line break or other control
// character between two offsets. Such a character could inject a header field.
func (l *Layout) RefuseHeaderControls(from, to int, rule string) []uri.Finding {
	at := EscapedControl(l.Text, from, to)
	if at < 0 {
		return nil
	}
	return RefuseAs(CodeInjection, at, at+3, rule, "a control character here would end the header field and begin another")
}

// CodeInjection is the code of findings about characters that, once decoded, would end a line or
// field of the protocol.
const CodeInjection uri.FindingCode = "injection"
