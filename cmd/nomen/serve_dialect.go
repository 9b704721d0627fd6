package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/dialect/ark"
	"github.com/nomen-project/nomen/dialect/arklet"
	"github.com/nomen-project/nomen/dialect/ezid"
	"github.com/nomen-project/nomen/dialect/handle"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/server/admin"
)

// A dialectTable is a [[dialect]] table of the configuration file. A dialect is the protocol of
// another identifier service. The table lists the authorities whose names are available in this
// protocol.
type dialectTable struct {
	Name        string            `toml:"name" json:"name"`
	Authorities []string          `toml:"authorities" json:"authorities"`
	Identity    []dialectIdentity `toml:"identity" json:"identity,omitempty"`

	RedirectUnavailable bool `toml:"redirect-unavailable" json:"redirect-unavailable,omitempty"`
}

// A dialectIdentity is a [[dialect.identity]] table. It defines the credentials of a client of the
// dialect.
type dialectIdentity struct {
	ID            string `toml:"id" json:"id"`
	Token         string `toml:"token" json:"token,omitempty"`
	User          string `toml:"user" json:"user,omitempty"`
	SecretFile    string `toml:"secret-file" json:"secret-file,omitempty"`
	PublicKeyFile string `toml:"public-key-file" json:"public-key-file,omitempty"`
}

// A dialectSetting is a [[dialect]] table after its values have been checked.
type dialectSetting struct {
	name       string
	scope      dialect.Scope
	identities []dialect.Identity

	redirectUnavailable bool
}

func dialectMakers() map[string]func(dialectSetting, serverParts, *admin.API) (dialect.Handler, error) {
	return map[string]func(dialectSetting, serverParts, *admin.API) (dialect.Handler, error){
		"ark": func(d dialectSetting, p serverParts, _ *admin.API) (dialect.Handler, error) {
			return ark.New(ark.Options{Scope: d.scope, Store: p.store, Resolver: p.resolver, Authorities: p.table})
		},
		"arklet": func(d dialectSetting, p serverParts, api *admin.API) (dialect.Handler, error) {
			return arklet.New(arklet.Options{
				Scope: d.scope, Identities: dialect.NewIdentities(api, d.identities, clock), Store: p.store, Registrar: p.registrar,
				Resolver: p.resolver, Authorities: p.table, Now: clock, Log: p.log,
			})
		},
		"ezid": func(d dialectSetting, p serverParts, api *admin.API) (dialect.Handler, error) {
			return ezid.New(ezid.Options{
				Scope: d.scope, Identities: dialect.NewIdentities(api, d.identities, clock), Store: p.store, Registrar: p.registrar,
				Resolver: p.resolver, Authorities: p.table, Version: versionText(), Now: clock, Log: p.log,
				Downloads: p.downloads, Pacer: p.pacer, RedirectUnavailable: d.redirectUnavailable,
			}), nil
		},
		"handle": func(d dialectSetting, p serverParts, api *admin.API) (dialect.Handler, error) {
			return handle.New(handle.Options{
				Store: p.store, Registrar: p.registrar, Resolver: p.resolver, Authorities: p.table, Scope: d.scope,
				Identities: dialect.NewIdentities(api, d.identities, clock), Now: clock, Log: p.log,
			})
		},
	}
}

func dialectKeys() []configKey {
	const table = "[[dialect]]\nname = \"handle\"\nauthorities = [\"hdl:20.500.9999\"]\n"
	const identity = table + "\n[[dialect.identity]]\nid = \"300:20.500.9999/ADMIN\"\ntoken = \"7QK2M5VX3ZJ4T6WB\"\n"
	key := func(name, meaning, kind, byDefault, example string) configKey {
		return configKey{Key: "dialect." + name, Meaning: meaning, Type: kind, Default: byDefault, Reload: true, Example: example}
	}
	return []configKey{
		key("name", "protocol of another identifier service, which listeners can speak: "+spokenDialects(), "string", "", table),
		key("authorities", "prefixes of the names for which the dialect is on", "list", "", table),
		key("redirect-unavailable", "whether the dialect ezid redirects from unavailable identifiers to their pages (302), instead of answering with status 410", "bool", "false", strings.Replace(table, "handle", "ezid", 1)+"redirect-unavailable = true\n"),
		key("identity", "users of the dialect: tables with id, token or user, secret-file and public-key-file", "list", "none", identity),
		key("identity.id", "user name in the dialect, such as INDEX:HANDLE", "string", "", identity),
		key("identity.token", "ID of the token whose rights this user has", "string", "none", identity),
		key("identity.user", "ID of the user of nomen whose rights this user has", "string", "none", strings.Replace(identity, `token = "7QK2M5VX3ZJ4T6WB"`, `user = "u-anna"`, 1)),
		key("identity.secret-file", "file with the password of this user, or credential:NAME", "string", "the secret of the token", identity+`secret-file = "credential:handle"`),
		key("identity.public-key-file", "PEM file with the public key of this user", "string", "none", identity+`public-key-file = "/etc/nomen/handle.pem"`),
	}
}

func spokenDialects() string { return strings.Join(slices.Sorted(maps.Keys(dialectMakers())), ", ") }

func (f *configFile) dialects() []dialectTable {
	if f == nil {
		return nil
	}
	return f.tables.Dialect
}

// setDialects sets the dialects of a listener. There must be a [[dialect]] table for each of the
// names.
func (s *listenSpec) setDialects(names []string, tables []dialectTable) error {
	for i, n := range names {
		switch {
		case s.admin || !s.protocols.Web():
			return errors.New("only a listener with the protocol web speaks dialects")
		case slices.Contains(names[:i], n):
			return fmt.Errorf("dialect %q is listed twice", n)
		case !slices.ContainsFunc(tables, func(t dialectTable) bool { return t.Name == n }):
			return fmt.Errorf("dialect %q has no [[dialect]] table with this name", n)
		}
	}
	s.dialects = names
	return nil
}

// dialectSettings checks the [[dialect]] tables and reads the files with secrets and keys. The
// error joins all errors.
func (c *cli) dialectSettings() (all []dialectSetting, err error) {
	var errs []error
	for i, t := range c.file.dialects() {
		d := dialectSetting{name: t.Name, redirectUnavailable: t.RedirectUnavailable}
		place := fmt.Sprintf("dialect.%d", i+1)
		fail := func(key string, err error) {
			errs = append(errs, c.file.errorf(place+key, "dialect %d: %w", i+1, err))
		}
		switch {
		case dialectMakers()[t.Name] == nil:
			fail(".name", fmt.Errorf("unknown dialect %q: must be one of %s", t.Name, spokenDialects()))
		case slices.ContainsFunc(all, func(o dialectSetting) bool { return o.name == t.Name }):
			fail(".name", fmt.Errorf("the dialect %q has another table already: add the authorities there", t.Name))
		case len(t.Authorities) == 0:
			fail("", errors.New("authorities is missing: want prefixes such as hdl:20.500.9999"))
		}
		for _, text := range t.Authorities {
			p, err := name.ParseScope(text)
			if err != nil {
				fail(".authorities", err)
			}
			d.scope = append(d.scope, p)
		}
		if t.Name == "ark" || t.Name == "arklet" {
			if err := d.scope.OnlyARKs(); err != nil {
				fail(".authorities", fmt.Errorf("%s: %w", t.Name, err))
			}
		}
		if t.RedirectUnavailable && t.Name != "ezid" {
			fail(".redirect-unavailable", errors.New("only the dialect ezid has this key: remove it"))
		}
		if t.Name == "ark" && len(t.Identity) > 0 {
			fail(".identity", errors.New("the dialect ark has no users: remove the tables [[dialect.identity]]"))
		}
		for j, identity := range t.Identity {
			one, key, err := identity.read()
			if err == nil && slices.ContainsFunc(d.identities, func(o dialect.Identity) bool { return o.ID == one.ID }) {
				key, err = "id", fmt.Errorf("%q has another table already", one.ID)
			}
			if err == nil && t.Name == "arklet" && slices.ContainsFunc(d.identities, func(o dialect.Identity) bool { return o.Secret != nil && bytes.Equal(o.Secret, one.Secret) }) {
				key, err = "secret-file", errors.New("another identity has the same secret, and clients of arklet send only the secret")
			}
			if err != nil {
				fail(fmt.Sprintf(".identity.%d.%s", j+1, key), fmt.Errorf("identity %d: %s: %w", j+1, key, err))
			}
			d.identities = append(d.identities, one)
		}
		all = append(all, d)
	}
	return all, errors.Join(errs...)
}

// read converts the table to an identity. If a value is invalid, it returns the key of the value
// and an error.
func (t dialectIdentity) read() (_ dialect.Identity, key string, err error) {
	i := dialect.Identity{ID: t.ID, Token: t.Token, User: t.User}
	switch {
	case t.ID == "":
		return i, "id", errors.New("is missing: want the user name of a client, such as 300:20.500.9999/ADMIN")
	case (t.Token == "") == (t.User == ""):
		return i, "token", errors.New("set either token or user to the ID of the account whose rights this identity has")
	case t.User != "" && t.SecretFile == "" && t.PublicKeyFile == "":
		return i, "secret-file", errors.New("is missing: the identity of a user needs secret-file or public-key-file")
	}
	if t.SecretFile != "" {
		if i.Secret, err = readCredential(t.SecretFile); err != nil {
			return i, "secret-file", err
		}
		if i.Secret = bytes.TrimRight(i.Secret, "\r\n"); len(i.Secret) < minDialectSecret {
			return i, "secret-file", fmt.Errorf("the secret must have at least %d bytes", minDialectSecret)
		}
	}
	if t.PublicKeyFile != "" {
		i.PublicKey, err = readPublicKey(t.PublicKeyFile)
	}
	return i, "public-key-file", err
}

// withClientCertificates returns the TLS configuration of a listener. If an identity of one of its
// dialects has a public key, the listener requests client certificates, which the dialect verifies.
func (c *cli) withClientCertificates(s *listenSpec) *tls.Config {
	signs := slices.ContainsFunc(c.file.dialects(), func(t dialectTable) bool {
		return slices.Contains(s.dialects, t.Name) && slices.ContainsFunc(t.Identity, func(i dialectIdentity) bool { return i.PublicKeyFile != "" })
	})
	if s.secure == nil || !signs {
		return s.secure
	}
	secure := s.secure.Clone()
	secure.ClientAuth = tls.RequestClientCert
	return secure
}

// minDialectSecret is the minimum length of the secret of a dialect identity, in bytes.
const minDialectSecret = 8

func readPublicKey(path string) (any, error) {
	text, err := readCredential(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	switch {
	case block == nil:
		return nil, fmt.Errorf("%s: want a PEM file with a public key or a certificate", path)
	case block.Type == "CERTIFICATE":
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return cert.PublicKey, nil
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

func (c *cli) openDialects(p serverParts, api *admin.API) (map[string]dialect.Handler, error) {
	settings, err := c.dialectSettings()
	if err != nil {
		return nil, err
	}
	all := map[string]dialect.Handler{}
	for _, d := range settings {
		if all[d.name], err = dialectMakers()[d.name](d, p, api); err != nil {
			return nil, fmt.Errorf("dialect %s: %w", d.name, err)
		}
	}
	return all, nil
}
