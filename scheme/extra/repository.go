package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// Schemes for remote shells, remote files and source repositories.

var ssh = scheme.Scheme{
	Name: "ssh", Title: "Secure Shell", Kind: scheme.KindLocator,
	Reference:   "draft-ietf-secsh-scp-sftp-ssh-uri; git-clone(1), GIT URLS",
	Example:     "ssh://git@example.org:2222/~user/project.git",
	Note:        "opens a session if there is no path; with a path it is a Git repository; ;fingerprint= after the user identifies the host key; /~user is a home directory",
	Security:    repositorySecurity,
	DefaultPort: "22", Transport: "tcp", Hierarchical: true,
	Special:   repositorySpecial,
	Retrieval: "log in to the host; Git or a person then chooses what to access",
	Rules:     scheme.RuleSet{Check: checkRemote, Parts: partsRemote},
}

var sftp = scheme.Scheme{
	Name: "sftp", Title: "SSH File Transfer Protocol", Kind: scheme.KindLocator,
	Reference:   "draft-ietf-secsh-scp-sftp-ssh-uri",
	Example:     "sftp://user@example.org/pub/a.txt;type=i",
	Note:        "for most clients the path starts at the root, in the draft at the home directory",
	Security:    repositorySecurity,
	DefaultPort: "22", Transport: "tcp", Hierarchical: true,
	Special:   repositorySpecial,
	Retrieval: "log in to the host, and read the file or list the directory",
	Rules:     scheme.RuleSet{Check: checkRemote, Parts: partsRemote},
}

var git = scheme.Scheme{
	Name: "git", Title: "Git repositories, without authentication", Kind: scheme.KindLocator,
	Reference:   "git-clone(1), GIT URLS; gitprotocol-pack(5)",
	Example:     "git://example.org/project.git",
	Note:        "no public grammar exists beyond the manual; /~user is a home directory",
	Security:    "neither authenticated nor encrypted: others on the network path can change the data",
	DefaultPort: "9418", Transport: "tcp", Hierarchical: true,
	Special:   repositorySpecial,
	Retrieval: "ask the host for the objects of the repository at the path",
	Rules:     scheme.RuleSet{Check: checkRepository, Parts: partsRemote},
}

var svn = scheme.Scheme{
	Name: "svn", Title: "Subversion", Kind: scheme.KindLocator,
	Reference:   "Version Control with Subversion, 1: Repository URLs",
	Example:     "svn://example.org/repos/project/trunk",
	Note:        "no public grammar exists; only the server can tell which part of the path is the repository",
	Security:    "passwords are not sent in the clear, but the data is not encrypted",
	DefaultPort: "3690", Transport: "tcp", Hierarchical: true,
	Special:   repositorySpecial,
	Retrieval: "ask the host for the file or the directory at the path",
	Rules:     scheme.RuleSet{Check: checkRemote, Parts: partsRemote},
}

var rsync = scheme.Scheme{
	Name: "rsync", Title: "Remote file synchronisation", Kind: scheme.KindLocator,
	Reference:   "RFC 5781",
	Example:     "rsync://example.org/ftp/pub/a.txt",
	Note:        "the first path segment is a module name; without one the server lists its modules",
	Security:    "the data is not encrypted",
	DefaultPort: "873", Transport: "tcp", Hierarchical: true,
	Special:   []scheme.Special{inPath("/", "separates the module and directory names")},
	Retrieval: "ask the server for the path in the module",
	Rules:     scheme.RuleSet{Check: checkRsync, Parts: partsRsync},
}

const repositorySecurity = "a program may interpret a host, user or path that begins with a hyphen as an option"

var repositorySpecial = []scheme.Special{
	inUserinfo(";", "precedes connection parameters"),
	inPath("/", "separates directory names"),
	inPath("~", "at the beginning: a user's home directory"),
}

// tunnelled returns the schemes of version control systems over another protocol, such as git+ssh.
// A URI over ssh has the syntax of an ssh URI. A URI over another protocol contains a URI of that
// protocol after the plus sign.
func tunnelled() []scheme.Scheme {
	var list []scheme.Scheme
	for _, name := range [...]string{"git+ssh", "ssh+git", "svn+ssh", "hg+ssh"} {
		list = append(list, scheme.Scheme{
			Name: name, Kind: scheme.KindLocator,
			Reference:   "git-clone(1), GIT URLS; Version Control with Subversion, 1; pip, VCS Support",
			Example:     name + "://user@example.org/project",
			Note:        "in use and never registered",
			Security:    repositorySecurity,
			DefaultPort: "22", Transport: "tcp", Hierarchical: true,
			Special:   repositorySpecial,
			Retrieval: "log in to the host, and ask for the objects of the repository at the path",
			Rules:     scheme.RuleSet{Check: checkRepository, Parts: partsRemote},
		})
	}
	for _, name := range [...]string{"git+http", "git+https", "git+file", "hg+http", "hg+https", "svn+http", "svn+https"} {
		list = append(list, scheme.Scheme{
			Name: name, Kind: scheme.KindLocator,
			Reference:    "pip, VCS Support; npm, package.json: Git URLs as dependencies",
			Example:      name + ":///project",
			Note:         "the transport's locator begins after the plus sign; the package manager interprets an @ in the path and the fragment",
			Security:     "programs that build the source run its code",
			Hierarchical: true,
			Retrieval:    "retrieve the repository at the locator that begins after the plus sign",
			Rules:        scheme.RuleSet{Check: checkTunnel, Parts: partsTunnel, Inner: innerTunnel},
		})
		if !strings.HasSuffix(name, "file") {
			list[len(list)-1].Example = name + "://example.org/project"
		}
	}
	return list
}

const (
	ruleSSH        = "draft-ietf-secsh-scp-sftp-ssh-uri, 2"
	ruleRepository = "git-clone(1), GIT URLS"
	ruleRsync      = "RFC 5781, 2: rsync-uri"
)

// checkRemote checks that there is a host, and that the host and the user cannot be mistaken for
// command-line options.
//
//	ssh-URI  = "ssh:" "//" [ ssh-info "@" ] host [ ":" port ] path-abempty
//	ssh-info = [ user ] [ ";" c-param *( "," c-param ) ]
func checkRemote(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := firstOf(checkSCP(&l), l.NeedServer(ruleSSH)); bad != nil {
		return bad
	}
	switch {
	case l.Text[l.Host] == '-':
		return option(l.Host, l.HostEnd, "the host must not begin with a hyphen: a program may interpret it as an option")
	case l.User >= 0 && l.User < l.UserEnd && l.Text[l.User] == '-':
		return option(l.User, l.UserEnd, "the user must not begin with a hyphen: a program may interpret it as an option")
	}
	return firstOf(l.RefuseControls(ruleSSH, "a file name or a command"), checkConnection(&l), warnPassword(&l))
}

// option returns an error about text that a program could interpret as a command-line option.
func option(from, to int, message string) []scheme.Finding {
	return layout.RefuseAs(scheme.CodeInjection, from, to, "IEEE Std 1003.1, 12.2: guideline 4", message)
}

// checkSCP returns an error if the URI has the form host:path, which is the syntax of the program
// scp.
func checkSCP(l *layout.Layout) []scheme.Finding {
	if l.Authority {
		return nil
	}
	rest := l.Text[l.Rest:l.End()]
	colon, slash := ascii.Until(rest, 0, len(rest), ':'), ascii.Until(rest, 0, len(rest), '/')
	if colon == len(rest) || colon > slash || colon == 0 {
		return nil
	}
	f := layout.Broken(l.Rest, l.End(), ruleRepository, "host:path is the form of scp and not a URI: write two slashes before the host and one before the path")
	return []scheme.Finding{layout.Instead(f, "//"+rest[:colon]+"/"+strings.TrimLeft(rest[colon+1:], "/"))}
}

func checkConnection(l *layout.Layout) []scheme.Finding {
	if l.User < 0 {
		return nil
	}
	end := ascii.Until(l.Text, l.User, l.UserEnd, ':')
	for f := range fields(l.Text, ascii.Until(l.Text, l.User, end, ';')+1, end, ',') {
		if f.empty() || f.name == f.nameEnd {
			return layout.Refuse(f.name, f.end, ruleSSH+": c-param", "a connection parameter must have the form name=value")
		}
	}
	return nil
}

func checkRepository(u uri.URI) []scheme.Finding {
	bad := checkRemote(u)
	if scheme.HasError(bad) {
		return bad
	}
	l := layout.Of(u)
	if l.Path+1 >= l.PathEnd {
		return layout.Refuse(l.Path, l.PathEnd, ruleRepository, "missing repository path")
	}
	return bad
}

func partsRemote(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	if t.User >= 0 {
		colon := ascii.Until(t.Text, t.User, t.UserEnd, ':')
		end := ascii.Until(t.Text, t.User, colon, ';')
		t.Data("user", t.User, end)
		if end < colon {
			appendFields(&t, "parameter", end+1, colon, ',')
		}
		t.Data("password", colon+1, t.UserEnd)
	}
	t.Server()
	_, code := t.Typecode()
	if code < 0 {
		t.Data("path", t.Path, t.PathEnd)
	} else {
		t.Data("path", t.Path, code-len(";type="))
		t.Part("type", code, t.PathEnd)
	}
	t.Search()
	t.Fragment()
	return t.Parts
}

func checkTunnel(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if !l.Authority {
		return layout.Refuse(l.Rest, l.Rest, ruleRepository, "missing // after the colon")
	}
	from := ascii.Until(l.Text, 0, len(l.Text), '+') + 1
	return checkInside(&l, from, len(l.Text), ruleRepository)
}

func partsTunnel(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	plus := ascii.Until(t.Text, 0, len(t.Text), '+')
	t.Part("vcs", 0, plus)
	t.Part("uri", min(plus+1, len(t.Text)), len(t.Text))
	return t.Parts
}

func innerTunnel(u uri.URI) (from, to int, ok bool) {
	s := u.String()
	plus := ascii.Until(s, 0, len(s), '+')
	return plus + 1, len(s), plus < len(s)
}

// checkRsync checks the server, the module and the path.
//
//	rsync-uri = "rsync:" hier-part
//	hier-part = "//" authority path-abempty
func checkRsync(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := l.NeedServer(ruleRsync); bad != nil {
		return bad
	}
	if l.Text[l.Host] == '-' {
		return option(l.Host, l.HostEnd, "the host must not begin with a hyphen: a program may interpret it as an option")
	}
	return firstOf(refuseQuery(&l, ruleRsync), l.RefuseControls(ruleRsync, "rsync"), warnPassword(&l))
}

func partsRsync(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	t.Login()
	t.Server()
	if t.HasPath() {
		from := min(t.Path+1, t.PathEnd)
		end := ascii.Until(t.Text, from, t.PathEnd, '/')
		t.Data("module", from, end)
		t.Data("path", end+1, t.PathEnd)
	}
	t.Fragment()
	return t.Parts
}
