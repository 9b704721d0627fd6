package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// Remote shells, files and source repositories over SSH, and the native schemes
// of version control systems.

var ssh = Scheme{
	Name: "ssh", Title: "Secure Shell", Kind: KindLocator,
	Reference:   "draft-ietf-secsh-scp-sftp-ssh-uri; git-clone(1), GIT URLS",
	Example:     "ssh://git@example.org:2222/~user/project.git",
	Note:        "opens a session if there is no path; with a path it is a Git repository; ;fingerprint= after the user identifies the host key; /~user is a home directory",
	Security:    repositorySecurity,
	DefaultPort: "22", Transport: "tcp", Hierarchical: true,
	Special:   repositorySpecial,
	Retrieval: "log in to the host; Git or a person then chooses what to access",
	Rules:     RuleSet{Check: checkRemote, Parts: partsRemote},
}

var sftp = Scheme{
	Name: "sftp", Title: "SSH File Transfer Protocol", Kind: KindLocator,
	Reference:   "draft-ietf-secsh-scp-sftp-ssh-uri",
	Example:     "sftp://user@example.org/pub/a.txt;type=i",
	Note:        "for most clients the path starts at the root, in the draft at the home directory",
	Security:    repositorySecurity,
	DefaultPort: "22", Transport: "tcp", Hierarchical: true,
	Special:   repositorySpecial,
	Retrieval: "log in to the host, and read the file or list the directory",
	Rules:     RuleSet{Check: checkRemote, Parts: partsRemote},
}

var git = Scheme{
	Name: "git", Title: "Git repositories, without authentication", Kind: KindLocator,
	Reference:   "git-clone(1), GIT URLS; gitprotocol-pack(5)",
	Example:     "git://example.org/project.git",
	Note:        "no public grammar exists beyond the manual; /~user is a home directory",
	Security:    "neither authenticated nor encrypted: others on the network path can change the data",
	DefaultPort: "9418", Transport: "tcp", Hierarchical: true,
	Special:   repositorySpecial,
	Retrieval: "ask the host for the objects of the repository at the path",
	Rules:     RuleSet{Check: checkRepository, Parts: partsRemote},
}

var svn = Scheme{
	Name: "svn", Title: "Subversion", Kind: KindLocator,
	Reference:   "Version Control with Subversion, 1: Repository URLs",
	Example:     "svn://example.org/repos/project/trunk",
	Note:        "no public grammar exists; only the server can tell which part of the path is the repository",
	Security:    "passwords are not sent in the clear, but the data is not encrypted",
	DefaultPort: "3690", Transport: "tcp", Hierarchical: true,
	Special:   repositorySpecial,
	Retrieval: "ask the host for the file or the directory at the path",
	Rules:     RuleSet{Check: checkRemote, Parts: partsRemote},
}

var rsync = Scheme{
	Name: "rsync", Title: "Remote file synchronisation", Kind: KindLocator,
	Reference:   "RFC 5781",
	Example:     "rsync://example.org/ftp/pub/a.txt",
	Note:        "the first path segment is a module name; without one the server lists its modules",
	Security:    "the data is not encrypted",
	DefaultPort: "873", Transport: "tcp", Hierarchical: true,
	Special:   []Special{{uri.ComponentPath, "/", "separates the module and directory names"}},
	Retrieval: "ask the server for the path in the module",
	Rules:     RuleSet{Check: checkRsync, Parts: partsRsync},
}

const repositorySecurity = "a program may interpret a host, user or path that begins with a hyphen as an option"

var repositorySpecial = []Special{
	{uri.ComponentUserinfo, ";", "precedes connection parameters"},
	{uri.ComponentPath, "/", "separates directory names"},
	{uri.ComponentPath, "~", "at the beginning: a user's home directory"},
}

// tunnelled returns the version control schemes whose transport follows a plus
// sign. Those over ssh are parsed like ssh; the others contain a locator of the
// transport.
func tunnelled() []Scheme {
	var list []Scheme
	for _, name := range [...]string{"git+ssh", "ssh+git", "svn+ssh", "hg+ssh"} {
		list = append(list, Scheme{
			Name: name, Title: "Repositories over Secure Shell", Kind: KindLocator,
			Reference:   "git-clone(1), GIT URLS; Version Control with Subversion, 1; pip, VCS Support",
			Example:     name + "://user@example.org/project",
			Note:        "in use and never registered",
			Security:    repositorySecurity,
			DefaultPort: "22", Transport: "tcp", Hierarchical: true,
			Special:   repositorySpecial,
			Retrieval: "log in to the host, and ask for the objects of the repository at the path",
			Rules:     RuleSet{Check: checkRepository, Parts: partsRemote},
		})
	}
	for _, name := range [...]string{"git+http", "git+https", "git+file", "hg+http", "hg+https", "svn+http", "svn+https"} {
		list = append(list, Scheme{
			Name: name, Title: "Repositories over another protocol", Kind: KindLocator,
			Reference:    "pip, VCS Support; npm, package.json: Git URLs as dependencies",
			Example:      name + ":///project",
			Note:         "the transport's locator begins after the plus sign; the package manager interprets an @ in the path and the fragment",
			Security:     "programs that build the source run its code",
			Hierarchical: true,
			Retrieval:    "retrieve the repository at the locator that begins after the plus sign",
			Rules:        RuleSet{Check: checkTunnel, Parts: partsTunnel, Inner: innerTunnel},
		})
		if !strings.HasSuffix(name, "file") {
			list[len(list)-1].Example = name + "://example.org/project"
		}
	}
	return list
}

// The grammar rules of remote repositories.
const (
	ruleSSH        = "draft-ietf-secsh-scp-sftp-ssh-uri, 2"
	ruleRepository = "git-clone(1), GIT URLS"
	ruleRsync      = "RFC 5781, 2: rsync-uri"
)

// checkRemote checks that there is a host, and that no program can interpret
// the host or user as an option.
//
//	ssh-URI  = "ssh:" "//" [ ssh-info "@" ] host [ ":" port ] path-abempty
//	ssh-info = [ user ] [ ";" c-param *( "," c-param ) ]
func checkRemote(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.checkSCP(); bad != nil {
		return bad
	}
	if bad := l.needServer(ruleSSH); bad != nil {
		return bad
	}
	switch {
	case l.s[l.host] == '-':
		return option(l.host, l.hostEnd, "the host must not begin with a hyphen: a program may interpret it as an option")
	case l.user >= 0 && l.user < l.userEnd && l.s[l.user] == '-':
		return option(l.user, l.userEnd, "the user must not begin with a hyphen: a program may interpret it as an option")
	}
	if bad := l.refuseControls(ruleSSH, "a file name or a command"); bad != nil {
		return bad
	}
	if bad := l.checkConnection(); bad != nil {
		return bad
	}
	return l.warnPassword()
}

// option returns an error about text that a program could interpret as an
// option.
func option(from, to int, message string) []Finding {
	f := broken(from, to, "IEEE Std 1003.1, 12.2: guideline 4", message)
	f.Code = CodeInjection
	return []Finding{f}
}

// checkSCP recognises the form host:path of scp, which is not a URI.
func (l *layout) checkSCP() []Finding {
	if l.authority {
		return nil
	}
	rest := l.s[l.rest:l.end()]
	colon, slash := until(rest, 0, len(rest), ':'), until(rest, 0, len(rest), '/')
	if colon == len(rest) || colon > slash || colon == 0 {
		return nil
	}
	f := broken(l.rest, l.end(), ruleRepository, "host:path is the form of scp and not a URI: write two slashes before the host and one before the path")
	return []Finding{instead(f, "//"+rest[:colon]+"/"+strings.TrimLeft(rest[colon+1:], "/"))}
}

// checkConnection checks the connection parameters after the user.
//
//	c-param = paramname "=" paramvalue
func (l *layout) checkConnection() []Finding {
	if l.user < 0 {
		return nil
	}
	end := until(l.s, l.user, l.userEnd, ':')
	for at := until(l.s, l.user, end, ';') + 1; at <= end; {
		f := nextField(l.s, at, end, ',')
		if f.empty() || f.name == f.nameEnd {
			return refuse(f.name, f.end, ruleSSH+": c-param", "a connection parameter must have the form name=value")
		}
		at = f.end + 1
	}
	return nil
}

// checkRepository is like checkRemote and requires a path.
func checkRepository(u uri.URI) []Finding {
	bad := checkRemote(u)
	if HasError(bad) {
		return bad
	}
	l := layoutOf(u)
	if l.path+1 >= l.pathEnd {
		return refuse(l.path, l.pathEnd, ruleRepository, "missing repository path")
	}
	return bad
}

func partsRemote(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	if t.user >= 0 {
		colon := until(t.s, t.user, t.userEnd, ':')
		end := until(t.s, t.user, colon, ';')
		t.data("user", t.user, end)
		if end < colon {
			t.fields(end+1, colon, ',')
		}
		if colon < t.userEnd {
			t.data("password", colon+1, t.userEnd)
		}
	}
	t.server()
	_, code := t.typecode()
	if code < 0 {
		t.data("path", t.path, t.pathEnd)
	} else {
		t.data("path", t.path, code-len(";type="))
		t.part("type", code, t.pathEnd)
	}
	t.search()
	t.fragment()
	return t.parts
}

// checkTunnel checks that there is a locator of the transport.
func checkTunnel(u uri.URI) []Finding {
	l := layoutOf(u)
	if !l.authority {
		return refuse(l.rest, l.rest, ruleRepository, "missing // after the colon")
	}
	from := until(l.s, 0, len(l.s), '+') + 1
	return l.checkInside(from, len(l.s), ruleRepository)
}

func partsTunnel(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	plus := until(t.s, 0, len(t.s), '+')
	t.part("vcs", 0, plus)
	t.part("uri", min(plus+1, len(t.s)), len(t.s))
	return t.parts
}

func innerTunnel(u uri.URI) (from, to int, ok bool) {
	s := u.String()
	plus := until(s, 0, len(s), '+')
	return plus + 1, len(s), plus < len(s)
}

// checkRsync checks a server, a module and a path.
//
//	rsync-uri = "rsync:" hier-part
//	hier-part = "//" authority path-abempty
func checkRsync(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.needServer(ruleRsync); bad != nil {
		return bad
	}
	if l.s[l.host] == '-' {
		return option(l.host, l.hostEnd, "the host must not begin with a hyphen: a program may interpret it as an option")
	}
	if bad := l.refuseQuery(ruleRsync); bad != nil {
		return bad
	}
	if bad := l.refuseControls(ruleRsync, "rsync"); bad != nil {
		return bad
	}
	return l.warnPassword()
}

func partsRsync(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.login()
	t.server()
	if t.hasPath() {
		from := min(t.path+1, t.pathEnd)
		end := until(t.s, from, t.pathEnd, '/')
		t.data("module", from, end)
		if end < t.pathEnd {
			t.data("path", end+1, t.pathEnd)
		}
	}
	t.fragment()
	return t.parts
}
