package counts

import (
	_ "embed"

	"github.com/nomen-project/nomen/internal/ascii"
)

//go:embed robots.txt
var robotsText string

// machines are the prefixes of the User-Agent fields of programs and libraries that people use to
// retrieve single items. They take precedence over the list of robots, which contains some of them.
// The comparison ignores the letter case.
var machines = [...]string{
	"aiohttp/", "apache-httpclient/", "axios/", "curl/", "git/", "go-http-client/", "got ", "got/", "guzzlehttp/", "httpie/", "java/",
	"java-http-client/", "jetty/", "libcurl", "libwww-perl/", "lwp", "mozilla/5.0 (windows nt; windows nt 10.0; en-us) windowspowershell",
	"node-fetch/", "node.js", "nomen/", "okhttp/", "php/", "postmanruntime/", "python-httpx/", "python-requests/", "python-urllib/",
	"python/", "r (", "reqwest/", "rest-client/", "ruby", "undici", "wget/", "zotero/",
}

// maxAgent is the number of bytes of a User-Agent field that are examined.
const maxAgent = 512

func (r *robots) classOf(agent string) Class {
	if agent == "" {
		return Unknown
	}
	agent = agent[:min(len(agent), maxAgent)]
	for _, m := range machines {
		if agent[0]|0x20 == m[0] && ascii.HasPrefix(agent, m) {
			return Machine
		}
	}
	if r.match(agent) {
		return Bot
	}
	return Regular
}
