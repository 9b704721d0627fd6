package conform

import (
	"fmt"
	"slices"
	"strings"
)

// A Profile is a group of cases about one way to resolve names.
type Profile string

// The profiles, in the order in which they are run.
const (
	Yaurn       Profile = "1995"        // draft-ietf-uri-yaurn-00
	THTTP       Profile = "thttp"       // RFC 2169
	Services    Profile = "rfc2483"     // RFC 2483, asked as RFC 2169 does
	Web         Profile = "web"         // RFC 9110, RFC 9112, RFC 8141
	Memento     Profile = "memento"     // RFC 7089
	Linkset     Profile = "linkset"     // RFC 9264
	Signposting Profile = "signposting" // signposting.org/FAIR
)

// Profiles returns all profiles.
func Profiles() []Profile {
	return []Profile{Yaurn, THTTP, Services, Web, Memento, Linkset, Signposting}
}

// ParseProfiles reads names of profiles with commas between them.
func ParseProfiles(s string) ([]Profile, error) {
	var list []Profile
	for name := range strings.SplitSeq(s, ",") {
		p := Profile(strings.ToLower(strings.TrimSpace(name)))
		if !slices.Contains(Profiles(), p) {
			var known []string
			for _, k := range Profiles() {
				known = append(known, string(k))
			}
			return nil, fmt.Errorf("unknown profile %q: want %s", name, strings.Join(known, ", "))
		}
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list, nil
}

// A Force is how strongly a document requires something. Documents that have no
// capitalised keywords are read by their plain words.
type Force string

// The forces. A case of each can fail: one of May only if the server does the thing,
// and does it otherwise than the document says.
const (
	Must   Force = "must"
	Should Force = "should"
	May    Force = "may"
)

// A Case is one requirement that can be seen from outside.
type Case struct {
	ID      string  `json:"id"` // the requirement, and after a slash which part of it: "Y95-41/404"
	Profile Profile `json:"profile"`
	Source  string  `json:"source"` // the document and the section
	Force   Force   `json:"force"`
	Words   string  `json:"words"` // what is required, in one or two sentences

	check func(*probe) outcome
}

// Cases returns all cases, by profile. The first of each profile finds out whether
// the server offers it at all.
func Cases() []Case {
	return slices.Concat(yaurnCases(), thttpCases(), serviceCases(), webCases(), mementoCases(), linksetCases(), signpostingCases())
}

// A Verdict is how a case ended.
type Verdict string

// The verdicts.
const (
	Pass          Verdict = "pass"
	Fail          Verdict = "fail"
	NotApplicable Verdict = "not applicable"
)

// An outcome is a verdict with its reason.
type outcome struct {
	verdict Verdict
	detail  string
}

func passed() outcome { return outcome{verdict: Pass} }

func failed(format string, args ...any) outcome { return outcome{Fail, fmt.Sprintf(format, args...)} }

func skipped(format string, args ...any) outcome {
	return outcome{NotApplicable, fmt.Sprintf(format, args...)}
}

// want passes if ok, and fails with the words otherwise.
func want(ok bool, format string, args ...any) outcome {
	if ok {
		return passed()
	}
	return failed(format, args...)
}

// A Result is how one case ended on one server.
type Result struct {
	Case
	Verdict   Verdict    `json:"verdict"`
	Detail    string     `json:"detail,omitempty"` // why it failed or is not applicable
	Exchanges []Exchange `json:"exchanges,omitempty"`
}
