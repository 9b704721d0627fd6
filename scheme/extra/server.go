package extra

import (
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// servers returns the schemes of databases, message queues, media servers and remote screens. Their
// URIs identify a server and an object on the server, and have few other rules.
func servers() []scheme.Scheme {
	const (
		databases = "connect to the server as the user, and open the database"
		queues    = "connect to the broker; the program decides what to send and receive"
		media     = "ask the server for a description of the media, and then play it"
		severally = "several hosts separated by commas are in use; with ports they are not a valid URI"
	)
	list := []scheme.Scheme{
		{Name: "postgresql", Reference: "PostgreSQL, libpq: Connection URIs", DefaultPort: "5432", Note: severally, Retrieval: databases},
		{Name: "postgres", Reference: "PostgreSQL, libpq: Connection URIs", DefaultPort: "5432", Note: "the same as postgresql; " + severally, Retrieval: databases},
		{Name: "mysql", Reference: "MySQL, Connecting Using URI-Like Connection Strings", DefaultPort: "3306", Retrieval: databases},
		{Name: "mongodb", Title: "MongoDB", Reference: "MongoDB, Connection String Specification", DefaultPort: "27017", Note: severally, Retrieval: databases},
		{Name: "mongodb+srv", Reference: "MongoDB, Initial DNS Seedlist Discovery", Note: "host and port are looked up in DNS, so no port is written", Retrieval: databases},
		{Name: "redis", Title: "Redis", Reference: "IANA registration of redis", DefaultPort: "6379", Note: "the path is the number of a database", Retrieval: databases},
		{Name: "rediss", Title: "Redis over TLS", Reference: "IANA registration of rediss", DefaultPort: "6379", Note: "the path is the number of a database", Retrieval: databases},
		{Name: "mqtt", Title: "MQTT", Reference: "IANA registration of mqtt", DefaultPort: "1883", Retrieval: queues},
		{Name: "mqtts", Title: "MQTT over TLS", Reference: "IANA registration of mqtts", DefaultPort: "8883", Retrieval: queues},
		{Name: "amqp", Reference: "RabbitMQ, URI Specification", DefaultPort: "5672", Note: "the path is the name of a virtual host; percent-encode a slash in it as %2F", Retrieval: queues},
		{Name: "amqps", Reference: "RabbitMQ, URI Specification", DefaultPort: "5671", Note: "the path is the name of a virtual host; percent-encode a slash in it as %2F", Retrieval: queues},
		{Name: "rtsp", Title: "Real-Time Streaming Protocol", Reference: "RFC 7826, 4.2", DefaultPort: "554", Retrieval: media},
		{Name: "rtsps", Title: "Real-Time Streaming Protocol over TLS", Reference: "RFC 7826, 4.2", DefaultPort: "322", Retrieval: media},
		{Name: "rtspu", Title: "Real-Time Streaming Protocol over UDP", Reference: "RFC 2326, 3.2", DefaultPort: "554", Transport: "udp", Note: "not in version 2 of the protocol", Retrieval: media},
		{Name: "vnc", Title: "Remote framebuffers", Reference: "RFC 7869", DefaultPort: "5900", Note: "the query holds connection settings; without a host the client waits for a connection", Retrieval: "connect to the server and show its screen", Interactive: true},
		{Name: "gemini", Reference: "Gemini network protocol specification, 2", DefaultPort: "1965", RootPath: true, Hierarchical: true, Note: "user information is not allowed, and a request must not exceed 1024 octets", Retrieval: "send the locator and a line break over TLS; the response is the object with its media type, or another locator"},
	}
	for i := range list {
		s := &list[i]
		s.Kind = scheme.KindLocator
		s.Example = s.Name + "://example.org/1"
		if s.Name == "vnc" {
			s.Example = "vnc://example.org?VncUsername=a"
		}
		s.Security = "user and password before the host are visible to all who see the locator"
		if s.Transport == "" {
			s.Transport = "tcp"
		}
		s.Rules = scheme.RuleSet{Check: checkServer, Parts: layout.Generic}
	}
	return list
}

func checkServer(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	switch name, _ := u.Scheme(); {
	case hasSecretQuery(name):
		if !l.Authority {
			return layout.Refuse(l.Rest, l.Rest, "RFC 3986, 3: hier-part", "missing // after the colon")
		}
		if from, to, ok := secretOf(&l, l.PathEnd); ok && l.Query >= 0 {
			return []scheme.Finding{layout.Warn(scheme.CodeCredentials, from, to, "RFC 3986, 3.2.1", "the password is visible to all who see the locator")}
		}
		return warnPassword(&l)
	case ascii.EqualFold(name, "vnc"):
		if !l.Authority {
			return layout.Refuse(l.Rest, l.Rest, "RFC 7869, ABNF: vnc-uri", "missing // after the colon")
		}
		if l.HasPath() && l.PathText() != "/" {
			return layout.Refuse(l.Path, l.PathEnd, "RFC 7869, ABNF: vnc-uri", "a path is not allowed")
		}
		return warnPassword(&l)
	default:
		if bad := l.NeedServer("RFC 3986, 3.2.2: host"); bad != nil {
			return bad
		}
		if bad := checkServerOf(&l, name); bad != nil {
			return bad
		}
		return warnPassword(&l)
	}
}

// hasSecretQuery reports whether the scheme is for a database that accepts a password in the query.
// URIs of these databases can also have an empty host, which means the local machine.
func hasSecretQuery(name string) bool {
	return ascii.EqualFold(name, "postgresql") || ascii.EqualFold(name, "postgres") || ascii.EqualFold(name, "mysql")
}

func checkServerOf(l *layout.Layout, name string) []scheme.Finding {
	const maxGemini = 1024
	switch {
	case ascii.EqualFold(name, "mongodb+srv") && l.Port >= 0:
		return layout.Refuse(l.Port-1, l.PortEnd, "MongoDB, Initial DNS Seedlist Discovery", "a port is not allowed: it is looked up in DNS")
	case ascii.EqualFold(name, "redis"), ascii.EqualFold(name, "rediss"):
		if l.Path+1 < l.PathEnd && firstNot(l.Text, l.Path+1, l.PathEnd, ascii.IsDigit) >= 0 {
			return []scheme.Finding{layout.Remark(scheme.CodeForm, l.Path, l.PathEnd, "IANA registration of redis", "the database should be a number; some clients do not support names")}
		}
	case ascii.EqualFold(name, "amqp"), ascii.EqualFold(name, "amqps"):
		if slash := ascii.Until(l.Text, min(l.Path+1, l.PathEnd), l.PathEnd, '/'); slash < l.PathEnd {
			return []scheme.Finding{layout.Instead(layout.Broken(slash, slash+1, "RabbitMQ, URI Specification: amqp_URI", "a slash in the name of a virtual host must be percent-encoded"), "%2F")}
		}
	case ascii.EqualFold(name, "gemini") && l.User >= 0:
		return l.RefuseUser("Gemini network protocol specification, 2")
	case ascii.EqualFold(name, "gemini") && l.End() > maxGemini:
		return layout.Refuse(maxGemini, l.End(), "Gemini network protocol specification, 2", "the request must not exceed 1024 octets")
	}
	return nil
}
