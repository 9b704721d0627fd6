package plan

import (
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

// An FTPServer has the settings for an FTP server. With the zero FTPServer, the client changes the
// directory one path segment at a time, and slashes separate the segments of file names as on Unix.
type FTPServer struct {
	// Names converts the segments of a path to a file name of the server's operating system. It
	// implies Whole. If Names is nil, the segments are joined with slashes.
	Names *LocalNames

	// Whole means that the client requests a file by its full name, without changing the directory.
	Whole bool

	// TypeLast means that the client sets the transfer mode after changing the directory, instead
	// of before.
	TypeLast bool
}

// requestFTP returns the login and the commands. Arguments of commands cannot contain line breaks.
// The scheme's Check rejects line breaks in locators, and requestFTP rejects them in the settings.
func requestFTP(u uri.URI, c Client) (Request, error) {
	parts := partsOf("ftp", u)
	r := Request{Length: -1}
	if err := c.login(&r, parts); err != nil {
		return Request{}, err
	}
	dirs, name := ftpElements(u, parts)
	format := c.formatOf(name)
	code, hasCode := scheme.Get(parts, "type")
	list := strings.EqualFold(code, "d")
	r.Text, r.Format = format.Text, format.Type
	if hasCode && !list {
		r.Text = strings.EqualFold(code, "a")
	}
	host, _ := u.Host()
	commands, err := c.Servers[strings.ToLower(host)].commands(dirs, name, r.Text, list)
	if err != nil {
		return Request{}, fmt.Errorf("scheme: ftp: %w", err)
	}
	r.Object = strings.Join(append(dirs, name), "/")
	r.Commands = append(r.Commands, commands...)
	return r, nil
}

// login sets the credentials of r to those in the locator. If the locator has no credentials, the
// login is anonymous with the user's mail address (draft of 1993, section "FTP"; RFC 1738, section
// 3.2.1).
func (c Client) login(r *Request, parts []scheme.Part) error {
	if _, ok := scheme.Get(parts, "user"); ok {
		r.Login = Login{User: partData(parts, "user"), Password: partData(parts, "password")}
	} else {
		r.Login = Login{User: "anonymous", Password: c.Mail, Anonymous: true}
	}
	if strings.ContainsAny(c.Mail, "\r\n\x00") {
		return fmt.Errorf("scheme: ftp: mail address %q contains a line break", c.Mail)
	}
	r.Commands = []string{"USER " + r.Login.User}
	if _, ok := scheme.Get(parts, "password"); ok || r.Login.Anonymous {
		r.Commands = append(r.Commands, "PASS "+r.Login.Password)
	}
	return nil
}

func ftpElements(u uri.URI, parts []scheme.Part) (dirs []string, name string) {
	if u.Dialect() != uri.Draft1993 {
		for _, p := range parts {
			if p.Name == "cwd" {
				dirs = append(dirs, string(p.Data()))
			}
		}
		return dirs, partData(parts, "name")
	}
	path, _ := scheme.Get(parts, "path")
	elements := strings.Split(path, "/")
	for _, e := range elements {
		dirs = append(dirs, string(scheme.Part{Value: e, Escaped: true}.Data()))
	}
	return dirs[:len(dirs)-1], dirs[len(dirs)-1]
}

func (s FTPServer) commands(dirs []string, name string, text, list bool) ([]string, error) {
	mode := "TYPE I"
	if text || list {
		mode = "TYPE A"
	}
	verb := "RETR "
	if list {
		verb = "NLST "
	}
	var walk []string
	if s.Whole || s.Names != nil {
		names := s.Names
		if names == nil {
			unix := UnixNames()
			names = &unix
		}
		local, err := names.Join(append(dirs, name))
		if err != nil {
			return nil, err
		}
		name = local
	} else {
		for _, dir := range dirs {
			walk = append(walk, "CWD "+dir)
		}
	}
	last := strings.TrimRight(verb+name, " ")
	if s.TypeLast {
		return append(walk, mode, last), nil
	}
	return append(append([]string{mode}, walk...), last), nil
}
