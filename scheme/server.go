package scheme

import "github.com/nomen-project/nomen/uri"

// servers returns schemes whose locators are a server and something on it, which
// their documents say little more about: databases, queues, media, screens.
func servers() []Scheme {
	const (
		databases = "connect to the server as the user, and open the database"
		queues    = "connect to the broker; what is sent and received is for the program to say"
		media     = "ask the server for a description of the media, and then to play it"
		severally = "several hosts with commas between are in use, and with ports are no URI"
	)
	list := []Scheme{
		{Name: "postgresql", Title: "PostgreSQL", Reference: "PostgreSQL, libpq: Connection URIs", DefaultPort: "5432", Note: severally, Retrieval: databases},
		{Name: "postgres", Title: "PostgreSQL", Reference: "PostgreSQL, libpq: Connection URIs", DefaultPort: "5432", Note: "the same as postgresql; " + severally, Retrieval: databases},
		{Name: "mysql", Title: "MySQL", Reference: "MySQL, Connecting Using URI-Like Connection Strings", DefaultPort: "3306", Retrieval: databases},
		{Name: "mongodb", Title: "MongoDB", Reference: "MongoDB, Connection String Specification", DefaultPort: "27017", Note: severally, Retrieval: databases},
		{Name: "mongodb+srv", Title: "MongoDB by SRV records", Reference: "MongoDB, Initial DNS Seedlist Discovery", Note: "host and port are looked up, so that no port is written", Retrieval: databases},
		{Name: "redis", Title: "Redis", Reference: "IANA registration of redis", DefaultPort: "6379", Note: "the path is the number of a database", Retrieval: databases},
		{Name: "rediss", Title: "Redis over TLS", Reference: "IANA registration of rediss", DefaultPort: "6379", Note: "the path is the number of a database", Retrieval: databases},
		{Name: "mqtt", Title: "MQTT", Reference: "IANA registration of mqtt", DefaultPort: "1883", Retrieval: queues},
		{Name: "mqtts", Title: "MQTT over TLS", Reference: "IANA registration of mqtts", DefaultPort: "8883", Retrieval: queues},
		{Name: "amqp", Title: "Advanced Message Queuing Protocol", Reference: "RabbitMQ, URI Specification", DefaultPort: "5672", Note: "the path is the name of a virtual host, in which a slash is %2F", Retrieval: queues},
		{Name: "amqps", Title: "Advanced Message Queuing Protocol over TLS", Reference: "RabbitMQ, URI Specification", DefaultPort: "5671", Note: "the path is the name of a virtual host, in which a slash is %2F", Retrieval: queues},
		{Name: "rtsp", Title: "Real-Time Streaming Protocol", Reference: "RFC 7826, 4.2", DefaultPort: "554", Retrieval: media},
		{Name: "rtsps", Title: "Real-Time Streaming Protocol over TLS", Reference: "RFC 7826, 4.2", DefaultPort: "322", Retrieval: media},
		{Name: "rtspu", Title: "Real-Time Streaming Protocol over UDP", Reference: "RFC 2326, 3.2", DefaultPort: "554", Transport: "udp", Note: "not in the second version of the protocol", Retrieval: media},
		{Name: "vnc", Title: "Remote framebuffers", Reference: "RFC 7869", DefaultPort: "5900", Note: "settings of the connection stand in the query; without a host the client waits", Retrieval: "connect to the server and show its screen", Interactive: true},
		{Name: "gemini", Title: "Gemini protocol", Reference: "Gemini network protocol specification, 2", DefaultPort: "1965", RootPath: true, Hierarchical: true, Note: "no user is provided for, and a request has 1024 octets at most", Retrieval: "send the locator and a line end over TLS; the answer is the object with its media type, or another locator"},
	}
	for i := range list {
		s := &list[i]
		s.Kind = KindLocator
		s.Example = s.Name + "://example.org/1"
		if s.Name == "vnc" {
			s.Example = "vnc://example.org?VncUsername=a"
		}
		s.Security = "user and password before the host can be read by everybody who sees the locator"
		if s.Transport == "" {
			s.Transport = "tcp"
		}
		s.Rules = RuleSet{Check: checkServer, Parts: partsHTTP}
	}
	return list
}

// checkServer checks a host, and what few schemes say beyond that.
func checkServer(u uri.URI) []Finding {
	l := layoutOf(u)
	switch name, _ := u.Scheme(); {
	case hasSecretQuery(name):
		if !l.authority {
			return refuse(l.rest, l.rest, "RFC 3986, 3: hier-part", "needs // after the colon")
		}
		if from, to, ok := l.secret(l.pathEnd); ok && l.query >= 0 {
			return []Finding{warn(CodeCredentials, from, to, "RFC 3986, 3.2.1", "everybody who sees the locator can read the password")}
		}
		return l.warnPassword()
	case equalFold(name, "vnc"):
		if !l.authority {
			return refuse(l.rest, l.rest, "RFC 7869, ABNF: vnc-uri", "needs // after the colon")
		}
		if l.hasPath() && l.pathText() != "/" {
			return refuse(l.path, l.pathEnd, "RFC 7869, ABNF: vnc-uri", "there is no path")
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

// hasSecretQuery reports whether a scheme of databases may have a password in its
// query, and no host: then the server is on this machine.
func hasSecretQuery(name string) bool {
	return equalFold(name, "postgresql") || equalFold(name, "postgres") || equalFold(name, "mysql")
}

// checkServerOf checks what a scheme says beyond a host.
func (l *layout) checkServerOf(name string) []Finding {
	const maxGemini = 1024
	switch {
	case equalFold(name, "mongodb+srv") && l.port >= 0:
		return refuse(l.port-1, l.portEnd, "MongoDB, Initial DNS Seedlist Discovery", "the port is looked up, and not written")
	case equalFold(name, "redis"), equalFold(name, "rediss"):
		if l.path+1 < l.pathEnd && firstNot(l.s, l.path+1, l.pathEnd, isDigit) >= 0 {
			return []Finding{remark(CodeForm, l.path, l.pathEnd, "IANA registration of redis", "a database has a number: not every client reads this")}
		}
	case equalFold(name, "amqp"), equalFold(name, "amqps"):
		if slash := until(l.s, min(l.path+1, l.pathEnd), l.pathEnd, '/'); slash < l.pathEnd {
			return []Finding{broken(slash, slash+1, "RabbitMQ, URI Specification: amqp_URI", "a slash in the name of a virtual host must be escaped").instead("%2F")}
		}
	case equalFold(name, "gemini") && l.user >= 0:
		return l.refuseUser("Gemini network protocol specification, 2")
	case equalFold(name, "gemini") && l.end() > maxGemini:
		return refuse(maxGemini, l.end(), "Gemini network protocol specification, 2", "a request has 1024 octets at most")
	}
	return nil
}
