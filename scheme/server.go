package scheme

import "github.com/nomen-project/nomen/uri"

// servers returns schemes whose locators identify a server and an object on it,
// with few further rules: databases, message queues, media, remote screens.
func servers() []Scheme {
	const (
		databases = "connect to the server as the user, and open the database"
		queues    = "connect to the broker; the program decides what to send and receive"
		media     = "ask the server for a description of the media, and then play it"
		severally = "several hosts separated by commas are in use; with ports they are not a valid URI"
	)
	list := []Scheme{
		{Name: "postgresql", Title: "PostgreSQL", Reference: "PostgreSQL, libpq: Connection URIs", DefaultPort: "5432", Note: severally, Retrieval: databases},
		{Name: "postgres", Title: "PostgreSQL", Reference: "PostgreSQL, libpq: Connection URIs", DefaultPort: "5432", Note: "the same as postgresql; " + severally, Retrieval: databases},
		{Name: "mysql", Title: "MySQL", Reference: "MySQL, Connecting Using URI-Like Connection Strings", DefaultPort: "3306", Retrieval: databases},
		{Name: "mongodb", Title: "MongoDB", Reference: "MongoDB, Connection String Specification", DefaultPort: "27017", Note: severally, Retrieval: databases},
		{Name: "mongodb+srv", Title: "MongoDB by SRV records", Reference: "MongoDB, Initial DNS Seedlist Discovery", Note: "host and port are looked up in DNS, so no port is written", Retrieval: databases},
		{Name: "redis", Title: "Redis", Reference: "IANA registration of redis", DefaultPort: "6379", Note: "the path is the number of a database", Retrieval: databases},
		{Name: "rediss", Title: "Redis over TLS", Reference: "IANA registration of rediss", DefaultPort: "6379", Note: "the path is the number of a database", Retrieval: databases},
		{Name: "mqtt", Title: "MQTT", Reference: "IANA registration of mqtt", DefaultPort: "1883", Retrieval: queues},
		{Name: "mqtts", Title: "MQTT over TLS", Reference: "IANA registration of mqtts", DefaultPort: "8883", Retrieval: queues},
		{Name: "amqp", Title: "Advanced Message Queuing Protocol", Reference: "RabbitMQ, URI Specification", DefaultPort: "5672", Note: "the path is the name of a virtual host; percent-encode a slash in it as %2F", Retrieval: queues},
		{Name: "amqps", Title: "Advanced Message Queuing Protocol over TLS", Reference: "RabbitMQ, URI Specification", DefaultPort: "5671", Note: "the path is the name of a virtual host; percent-encode a slash in it as %2F", Retrieval: queues},
		{Name: "rtsp", Title: "Real-Time Streaming Protocol", Reference: "RFC 7826, 4.2", DefaultPort: "554", Retrieval: media},
		{Name: "rtsps", Title: "Real-Time Streaming Protocol over TLS", Reference: "RFC 7826, 4.2", DefaultPort: "322", Retrieval: media},
		{Name: "rtspu", Title: "Real-Time Streaming Protocol over UDP", Reference: "RFC 2326, 3.2", DefaultPort: "554", Transport: "udp", Note: "not in version 2 of the protocol", Retrieval: media},
		{Name: "vnc", Title: "Remote framebuffers", Reference: "RFC 7869", DefaultPort: "5900", Note: "the query holds connection settings; without a host the client waits for a connection", Retrieval: "connect to the server and show its screen", Interactive: true},
		{Name: "gemini", Title: "Gemini protocol", Reference: "Gemini network protocol specification, 2", DefaultPort: "1965", RootPath: true, Hierarchical: true, Note: "user information is not allowed, and a request must not exceed 1024 octets", Retrieval: "send the locator and a line break over TLS; the response is the object with its media type, or another locator"},
	}
	for i := range list {
		s := &list[i]
		s.Kind = KindLocator
		s.Example = s.Name + "://example.org/1"
		if s.Name == "vnc" {
			s.Example = "vnc://example.org?VncUsername=a"
		}
		s.Security = "user and password before the host are visible to all who see the locator"
		if s.Transport == "" {
			s.Transport = "tcp"
		}
		s.Rules = RuleSet{Check: checkServer, Parts: partsHTTP}
	}
	return list
}

// checkServer checks the host, and the few further rules of some schemes.
func checkServer(u uri.URI) []Finding {
	l := layoutOf(u)
	switch name, _ := u.Scheme(); {
	case hasSecretQuery(name):
		if !l.authority {
			return refuse(l.rest, l.rest, "RFC 3986, 3: hier-part", "missing // after the colon")
		}
		if from, to, ok := l.secret(l.pathEnd); ok && l.query >= 0 {
			return []Finding{warn(CodeCredentials, from, to, "RFC 3986, 3.2.1", "the password is visible to all who see the locator")}
		}
		return l.warnPassword()
	case equalFold(name, "vnc"):
		if !l.authority {
			return refuse(l.rest, l.rest, "RFC 7869, ABNF: vnc-uri", "missing // after the colon")
		}
		if l.hasPath() && l.pathText() != "/" {
			return refuse(l.path, l.pathEnd, "RFC 7869, ABNF: vnc-uri", "a path is not allowed")
		}
		return l.warnPassword()
	default:
		if bad := l.needServer("RFC 3986, 3.2.2: host"); bad != nil {
			return bad
		}
		if bad := l.checkServerOf(name); bad != nil {
			return bad
		}
		return l.warnPassword()
	}
}

// hasSecretQuery reports whether a database scheme allows a password in its
// query, and an empty host, which means this machine.
func hasSecretQuery(name string) bool {
	return equalFold(name, "postgresql") || equalFold(name, "postgres") || equalFold(name, "mysql")
}

// checkServerOf checks the rules of individual schemes.
func (l *layout) checkServerOf(name string) []Finding {
	const maxGemini = 1024
	switch {
	case equalFold(name, "mongodb+srv") && l.port >= 0:
		return refuse(l.port-1, l.portEnd, "MongoDB, Initial DNS Seedlist Discovery", "a port is not allowed: it is looked up in DNS")
	case equalFold(name, "redis"), equalFold(name, "rediss"):
		if l.path+1 < l.pathEnd && firstNot(l.s, l.path+1, l.pathEnd, isDigit) >= 0 {
			return []Finding{remark(CodeForm, l.path, l.pathEnd, "IANA registration of redis", "the database should be a number; some clients do not support names")}
		}
	case equalFold(name, "amqp"), equalFold(name, "amqps"):
		if slash := until(l.s, min(l.path+1, l.pathEnd), l.pathEnd, '/'); slash < l.pathEnd {
			return []Finding{instead(broken(slash, slash+1, "RabbitMQ, URI Specification: amqp_URI", "a slash in the name of a virtual host must be percent-encoded"), "%2F")}
		}
	case equalFold(name, "gemini") && l.user >= 0:
		return l.refuseUser("Gemini network protocol specification, 2")
	case equalFold(name, "gemini") && l.end() > maxGemini:
		return refuse(maxGemini, l.end(), "Gemini network protocol specification, 2", "the request must not exceed 1024 octets")
	}
	return nil
}
