package urn

import (
	"strings"
	"sync"
)

// A Service is an entry in the registry of URN resolution services (draft of 2012, section 9.2.2).
// The name of a service is a value of the query keyword "s".
type Service struct {
	Name      string `json:"name"` // case-sensitive: I2L and i2l differ
	Purpose   string `json:"purpose"`
	Status    Status `json:"status"`
	Reference string `json:"reference"`
}

// Services2012 returns the initial registry of services, as the draft of 2012 defines it. These are
// the services of RFC 2483.
func Services2012() Services { return services2012() }

var services2012 = sync.OnceValue(func() Services {
	return Services{}.with(
		Service{"I2L", "URI to URL", StatusProvisional, "RFC 2483, sec. 4.1"},
		Service{"I2Ls", "URI to URLs", StatusProvisional, "RFC 2483, sec. 4.2"},
		Service{"I2R", "URI to resource", StatusProvisional, "RFC 2483, sec. 4.3"},
		Service{"I2Rs", "URI to resources", StatusProvisional, "RFC 2483, sec. 4.4"},
		Service{"I2C", "URI to URC", StatusProvisional, "RFC 2483, sec. 4.5"},
		Service{"I2Cs", "URI to URCs", StatusProvisional, "RFC 2483, sec. 4.6"},
		Service{"I2N", "URI to URN", StatusProvisional, "RFC 2483, sec. 4.7"},
		Service{"I2Ns", "URI to URNs", StatusProvisional, "RFC 2483, sec. 4.8"},
		Service{"I=I", "URI equal to URI?", StatusProvisional, "RFC 2483, sec. 4.9"},
	)
})

func (s Service) name() string { return s.Name }

func (s Service) canonical() Service { return s }

func (s Service) fault() *EntryError {
	switch {
	case s.Name == "" || Draft2012.CheckRule("value", s.Name) != nil:
		return &EntryError{s.Name, "name", "must be a valid value of a directive"}
	case s.Purpose == "":
		return &EntryError{s.Name, "purpose", "is required"}
	case int(s.Status) >= len(statusNames):
		return &EntryError{s.Name, "status", "must be one of " + strings.Join(statusNames, ", ")}
	}
	return nil
}

func (s Service) policy() *EntryError {
	switch {
	case s.Reference == "":
		return &EntryError{s.Name, "reference", "is required"}
	case s.Status == StatusDeprecated:
		return &EntryError{s.Name, "status", "of a new service cannot be deprecated"}
	case s.Status != StatusProvisional && !strings.Contains(s.Reference, "RFC "):
		return &EntryError{s.Name, "reference", "must be an RFC whose category matches the status"}
	}
	return nil
}

// A Status is the status of a service in the registry (draft of 2012, section 9.2.2).
type Status uint8

// The possible statuses of a service.
const (
	StatusStandard     Status = iota // std
	StatusExperimental               // exp
	StatusProvisional
	StatusDeprecated
)

var statusNames = []string{"std", "exp", "provisional", "deprecated"}

// String returns the name of the status: std, exp, provisional or deprecated.
func (s Status) String() string { return wordName(s, statusNames) }

// MarshalText implements [encoding.TextMarshaler].
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Status) UnmarshalText(text []byte) error { return parseWord(s, statusNames, text) }

// Policy returns the procedure by which a service gets the status.
func (s Status) Policy() string {
	switch s {
	case StatusStandard:
		return "RFC Required, standards track"
	case StatusExperimental:
		return "RFC Required, experimental"
	case StatusProvisional:
		return "early allocation"
	default:
		return "IESG Approval"
	}
}
