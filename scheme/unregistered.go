package scheme

// unregistered returns schemes in wide use that are not registered at IANA. Package extra has rules
// for some of them.
func unregistered() []Scheme {
	bare := func(name, title string) Scheme { return Scheme{Name: name, Title: title} }
	return []Scheme{
		bare("amqp", "Advanced Message Queuing Protocol"),
		bare("amqps", "Advanced Message Queuing Protocol over TLS"),
		bare("gemini", "Gemini protocol"),
		bare("git+file", "Repositories over another protocol"),
		bare("git+http", "Repositories over another protocol"),
		bare("git+https", "Repositories over another protocol"),
		bare("git+ssh", "Repositories over Secure Shell"),
		bare("gs", "Google Cloud Storage"),
		bare("hdl", "Handle System"),
		bare("hg+http", "Repositories over another protocol"),
		bare("hg+https", "Repositories over another protocol"),
		bare("hg+ssh", "Repositories over Secure Shell"),
		bare("intent", "Android intents"),
		bare("itms-apps", "Apple App Store"),
		bare("javascript", "Script to be run"),
		bare("jdbc", "Java Database Connectivity"),
		bare("mongodb+srv", "MongoDB by SRV records"),
		bare("mysql", "MySQL"),
		bare("odbc", "Open Database Connectivity"),
		bare("postgres", "PostgreSQL"),
		bare("postgresql", "PostgreSQL"),
		bare("s3", "Amazon Simple Storage Service"),
		bare("scp", "Secure copy"),
		bare("socks5", "SOCKS proxy"),
		bare("ssh+git", "Repositories over Secure Shell"),
		bare("svn+http", "Repositories over another protocol"),
		bare("svn+https", "Repositories over another protocol"),
		bare("svn+ssh", "Repositories over Secure Shell"),
		bare("tg", "Telegram"),
		bare("vbscript", "Script to be run"),
		bare("whatsapp", "WhatsApp"),
		bare("zoommtg", "Zoom meetings"),
	}
}
