package scheme

// unregistered returns schemes in wide use that are not registered at IANA.
// Those without rules are listed so that they are recognised.
func unregistered() []Scheme {
	bare := func(name, title string) Scheme { return Scheme{Name: name, Title: title} }
	return []Scheme{
		bare("intent", "Android intents"),
		bare("itms-apps", "Apple App Store"),
		bare("odbc", "Open Database Connectivity"),
		bare("s3", "Amazon Simple Storage Service"),
		bare("gs", "Google Cloud Storage"),
		bare("scp", "Secure copy"),
		bare("socks5", "SOCKS proxy"),
		bare("tg", "Telegram"),
		bare("whatsapp", "WhatsApp"),
		bare("zoommtg", "Zoom meetings"),
	}
}
