package extra

import (
	"testing"

	"github.com/nomen-project/nomen/uri"
)

func TestRepositories(t *testing.T) {
	const hyphen = "IEEE Std 1003.1, 12.2: guideline 4"
	for _, tt := range []sample{
		{"ssh://user@host.example.com", "user=user host=host.example.com path=", "", ""},
		{"ssh://user@host.example.com:2222", "user=user host=host.example.com port=2222 path=", "", ""},
		{"ssh://user;fingerprint=ssh-dss-c1-b1-30-29-d7-b8-de-6c-97-77-10-d7-46-41-63-87@host.example.com", "user=user parameter_fingerprint=ssh-dss-c1-b1-30-29-d7-b8-de-6c-97-77-10-d7-46-41-63-87 host=host.example.com path=", "", ""},
		{"ssh://git@Example.org:22/~user/a.git", "user=git host=Example.org port=22 path=/~user/a.git", "ssh://git@example.org/~user/a.git", ""},
		{"ssh://u:p@h/", "user=u password=p host=h path=/", "", "7 RFC 3986, 3.2.1"},
		{"ssh:git@github.com:org/repo.git", "", "", "4 git-clone(1), GIT URLS"},
		{"ssh:host", "", "", "4 draft-ietf-secsh-scp-sftp-ssh-uri, 2"},
		{"ssh:///a", "", "", "6 draft-ietf-secsh-scp-sftp-ssh-uri, 2"},
		{"ssh://-oProxyCommand=x/a", "", "", "6 " + hyphen},
		{"ssh://-x@h/a", "", "", "6 " + hyphen},
		{"ssh://u;fingerprint@h", "", "", "8 draft-ietf-secsh-scp-sftp-ssh-uri, 2: c-param"},
		{"ssh://h/a%0Ab", "", "", "9 draft-ietf-secsh-scp-sftp-ssh-uri, 2"},
		{"sftp://user@host.example.com/~/file.txt", "user=user host=host.example.com path=/~/file.txt", "", ""},
		{"sftp://h/a;type=i", "host=h path=/a type=i", "", ""},
		{"git://host.example/~u/p.git", "host=host.example path=/~u/p.git", "", ""},
		{"git:host:p.git", "", "", "4 git-clone(1), GIT URLS"},
		{"git://host/", "", "", "10 git-clone(1), GIT URLS"},
		{"svn://svn.example.com:9834/repos", "host=svn.example.com port=9834 path=/repos", "", ""},
		{"git+ssh://git@h/p#v1", "user=git host=h path=/p fragment=v1", "", ""},
		{"svn+ssh://h", "", "", "11 git-clone(1), GIT URLS"},
		{"git+https://git.example.com/MyProject@v1.0#egg=MyProject", "vcs=git uri=https://git.example.com/MyProject@v1.0#egg=MyProject", "", ""},
		{"git+https://u:p@h/p", "vcs=git uri=https://u:p@h/p", "", "12 RFC 9110, 4.2.4: userinfo"},
		{"git+file:///base/user/projects/MyProject", "vcs=git uri=file:///base/user/projects/MyProject", "", ""},
		{"hg+http:h/p", "", "", "8 git-clone(1), GIT URLS"},
		{"svn+https:///p", "", "", "12 RFC 9110, 4.2.1: http-URI"},
		{"rsync://rsync.samba.org/ftp/a", "host=rsync.samba.org module=ftp path=a", "", ""},
		{"rsync://u@h:873/m", "user=u host=h port=873 module=m", "rsync://u@h/m", ""},
		{"rsync://u:p@h/m", "user=u password=p host=h module=m", "", "9 RFC 3986, 3.2.1"},
		{"rsync:h/m", "", "", "6 RFC 5781, 2: rsync-uri"},
		{"rsync://h/m?x", "", "", "11 RFC 5781, 2: rsync-uri"},
		{"rsync://-e/m", "", "", "8 " + hyphen},

		{"jdbc:postgresql://h:5432/d?ssl=true", "subprotocol=postgresql subname=//h:5432/d?ssl=true", "", ""},
		{"jdbc:oracle:thin:@h:1521:x", "subprotocol=oracle subname=thin:@h:1521:x", "", ""},
		{"jdbc:sqlserver://h;databaseName=d;password=x;a=b", "subprotocol=sqlserver subname=//h;databaseName=d;password=x;a=b", "", "34 JDBC Specification, 9.4.1"},
		{"jdbc:mysql://h/d?user=a&password=b", "subprotocol=mysql subname=//h/d?user=a&password=b", "", "24 RFC 3986, 3.2.1"},
		{"jdbc:h2", "", "", "7 JDBC Specification, 9.4: jdbc:subprotocol:subname"},
		{"jdbc::x", "", "", "5 JDBC Specification, 9.4: jdbc:subprotocol:subname"},
		{"jdbc://h/x", "", "", "5 JDBC Specification, 9.4: jdbc:subprotocol:subname"},
		{"jdbc:a/b:c", "", "", "6 JDBC Specification, 9.4: jdbc:subprotocol:subname"},
	} {
		tt.check(t)
	}
}

// The form of scp produces a suggestion of the correct form.
func TestSCPForm(t *testing.T) {
	for in, want := range map[string]string{
		"ssh:git@github.com:org/repo.git": "//git@github.com/org/repo.git",
		"git:h:/abs/p":                    "//h/abs/p",
		"svn+ssh:h:p":                     "//h/p",
	} {
		found := Catalogue().Check(uri.MustParse(in))
		if len(found) != 1 || found[0].Right != want {
			t.Errorf("Check(%q) = %+v, want %q", in, found, want)
		}
	}
}
