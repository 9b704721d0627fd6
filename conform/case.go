package conform

import (
	"fmt"
	"slices"
	"strings"
)

// A Profile is a group of cases about one protocol or API for resolving names.
type Profile string

// The profiles, in the order in which they run.
const (
	Yaurn       Profile = "1995"        // draft-ietf-uri-yaurn-00
	THTTP       Profile = "thttp"       // RFC 2169
	Services    Profile = "rfc2483"     // RFC 2483, with requests as in RFC 2169
	Web         Profile = "web"         // RFC 9110, RFC 9112, RFC 8141
	Memento     Profile = "memento"     // RFC 7089
	Linkset     Profile = "linkset"     // RFC 9264
	Signposting Profile = "signposting" // signposting.org/FAIR
	EZID        Profile = "ezid"        // the API of EZID, version 2
	Handle      Profile = "handle"      // the JSON API of Handle servers, version 8, and their proxy
	ARK         Profile = "ark"         // draft-kunze-ark
)

func Profiles() []Profile {
	return []Profile{Yaurn, THTTP, Services, Web, Memento, Linkset, Signposting, EZID, Handle, ARK}
}

// ParseProfiles parses a list of profiles, separated by commas.
func ParseProfiles(s string) ([]Profile, error) {
	var list []Profile
	for name := range strings.SplitSeq(s, ",") {
		p := Profile(strings.ToLower(strings.TrimSpace(name)))
		if !slices.Contains(Profiles(), p) {
			known := strings.ReplaceAll(strings.Trim(fmt.Sprint(Profiles()), "[]"), " ", ", ")
			return nil, fmt.Errorf("unknown profile %q: want %s", name, known)
		}
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list, nil
}

// A Force is the level of a requirement. It follows the keywords of RFC 2119. If a document does
// not use these keywords, the level is an interpretation of its wording.
type Force string

// The levels of requirements. A case of any level can fail. A case with the level May fails only if
// the server has the optional feature, but does not implement it as the document says.
const (
	Must   Force = "must"
	Should Force = "should"
	May    Force = "may"
)

// A Case tests one requirement whose fulfilment can be observed over the network.
type Case struct {
	ID      string  `json:"id"` // number of the requirement, as in "Y95-41", with a suffix if the case tests a part of it, as in "Y95-41/404"
	Profile Profile `json:"profile"`
	Source  string  `json:"source"` // document and section
	Force   Force   `json:"force"`
	Words   string  `json:"words"` // the requirement in one or two sentences

	check func(*probe) outcome
}

// A row is a case in the table of a profile. [Cases] converts rows to cases.
type row struct {
	id, section string // without what all rows of the table begin with
	force       Force
	words       string
	check       func(*probe) outcome
}

// Cases returns all cases, grouped by profile. The first case of each profile tests whether the
// server supports the profile at all.
func Cases() []Case {
	var all []Case
	for _, t := range []struct {
		profile    Profile
		id, source string // what the IDs and the sources of all rows begin with
		rows       []row
	}{
		{Yaurn, "", "draft-ietf-uri-yaurn-00, ", yaurnCases},
		{THTTP, "RFC2169-", "RFC 2169, ", thttpCases},
		{Services, "RFC2483-", "RFC 2483, ", serviceCases},
		{Web, "", "", webCases},
		{Memento, "RFC7089-", "RFC 7089, ", mementoCases},
		{Linkset, "RFC9264-", "RFC 9264, ", linksetCases},
		{Signposting, "FAIR-", "signposting.org/FAIR, ", signpostingCases},
		{EZID, "EZID-", "EZID API 2, ", ezidCases},
		{Handle, "HDL-", "Handle JSON API 8, ", handleCases},
		{ARK, "ARK-", "draft-kunze-ark-42, ", arkCases},
	} {
		for _, r := range t.rows {
			if t.profile != Yaurn { // only the protocol of 1995 can request an element without its full name
				r.check = named(r.check)
			}
			all = append(all, Case{t.id + r.id, t.profile, t.source + r.section, r.force, r.words, r.check})
		}
	}
	return all
}

// A Verdict is the result of a case.
type Verdict string

const (
	Pass          Verdict = "pass"
	Fail          Verdict = "fail"
	NotApplicable Verdict = "not applicable"
)

// A Need is information that a case requires and that [Run] cannot obtain from the server.
type Need string

// Each Need is named after the field of [Options] that provides the information.
const (
	NeedsNames     Need = "Names" // more names than Run has found
	NeedsAuthority Need = "Authority"
	NeedsRetired   Need = "Retired"
	NeedsMoved     Need = "Moved"
	NeedsLanding   Need = "Landing"
	NeedsTimeGate  Need = "TimeGate"
)

// An outcome is a verdict with its reason. A function called by a check can panic with an outcome
// to end the case.
type outcome struct {
	verdict Verdict
	detail  string
	missing Need
}

func passed() outcome { return outcome{verdict: Pass} }

func failed(format string, args ...any) outcome {
	return outcome{verdict: Fail, detail: fmt.Sprintf(format, args...)}
}

func (p *probe) run(check func(*probe) outcome) (out outcome) {
	defer func() {
		if v := recover(); v != nil {
			ended, ok := v.(outcome)
			if !ok {
				panic(v)
			}
			out = ended
		}
	}()
	return check(p)
}

func skipped(format string, args ...any) outcome {
	return outcome{verdict: NotApplicable, detail: fmt.Sprintf(format, args...)}
}

func missing(n Need, reason string) outcome {
	return outcome{verdict: NotApplicable, detail: reason, missing: n}
}

// want returns a passed outcome if ok is true. Otherwise it returns a failed outcome with the
// formatted reason.
func want(ok bool, format string, args ...any) outcome {
	if ok {
		return passed()
	}
	return failed(format, args...)
}

// need ends the case as not applicable, with the formatted reason, unless ok is true.
func need(ok bool, format string, args ...any) {
	if !ok {
		panic(skipped(format, args...))
	}
}

// must ends the case as failed, with the formatted reason, unless ok is true.
func must(ok bool, format string, args ...any) {
	if !ok {
		panic(failed(format, args...))
	}
}

// A Result is the result of testing a server with a case.
type Result struct {
	Case
	Verdict   Verdict    `json:"verdict"`
	Detail    string     `json:"detail,omitempty"` // why the case failed or is not applicable
	Exchanges []Exchange `json:"exchanges,omitempty"`
	Missing   Need       `json:"-"` // the option that would make the case applicable, or ""
}
