package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/adminapi"
)

type configKey struct {
	Key      string `json:"key"`
	Meaning  string `json:"meaning"`
	Type     string `json:"type"`
	Default  string `json:"default,omitempty"` // the default; "" if the option is empty or off by default
	Variable string `json:"environment,omitempty"`
	Option   string `json:"option,omitempty"` // name of the option on the command line
	Reload   bool   `json:"reload"`           // whether a reload changes it
	Example  string `json:"example"`          // a line of a file
}

// configKeys returns all keys of the configuration file. The options of serve come first, sorted by
// name. The keys of the tables follow.
func configKeys() []configKey {
	c := &cli{sources: map[string]optionSource{}}
	serve, _, err := c.root().Find([]string{"serve"})
	if err != nil {
		return nil
	}
	var all []configKey
	add := func(f *pflag.Flag) {
		if classOf(f.Name) != ofCommand {
			all = append(all, keyOf(f))
		}
	}
	serve.InheritedFlags().VisitAll(add)
	serve.Flags().VisitAll(add)
	slices.SortFunc(all, func(a, b configKey) int { return strings.Compare(a.Key, b.Key) })
	all = slices.CompactFunc(all, func(a, b configKey) bool { return a.Key == b.Key })
	return append(all, tableKeys()...)
}

// keyOf returns the description of an option as a key of the configuration file.
func keyOf(f *pflag.Flag) configKey {
	meaning, byDefault := usageOf(f)
	if f.Name == "data" { // depends on the user
		byDefault = "/var/lib/nomen for root, otherwise the user's data directory"
	}
	k := configKey{Key: f.Name, Meaning: meaning, Default: byDefault, Variable: variableOf(f.Name), Option: "--" + f.Name, Reload: classOf(f.Name) == live}
	k.Type, k.Example = typeOf(f)
	if table, key, ok := strings.Cut(f.Name, "."); ok {
		_, value, _ := strings.Cut(k.Example, " = ")
		k.Example = fmt.Sprintf("[%s]\n%s = %s", table, key, value)
	}
	return k
}

// usageOf splits the help text of an option into its meaning and its default. If the option is
// empty or off by default, byDefault is "".
func usageOf(f *pflag.Flag) (meaning, byDefault string) {
	meaning = f.Usage
	byDefault = strings.TrimSuffix(strings.TrimPrefix(defaultOf(f), " (default "), ")")
	if i := strings.LastIndex(meaning, " (default "); i >= 0 && strings.HasSuffix(meaning, ")") {
		meaning, byDefault = meaning[:i], meaning[i+len(" (default "):len(meaning)-1]
	}
	return meaning, byDefault
}

func typeOf(f *pflag.Flag) (kind, example string) {
	switch f.Value.Type() {
	case "bool":
		kind, example = "true or false", "true"
	case "int", "uint", "uint16":
		kind, example = "number", "100"
	case "float64":
		kind, example = "number", "2.5"
	case "duration":
		kind, example = "duration", `"30s"`
	case "uintSlice":
		kind, example = "list of numbers", "[443]"
	case "stringSlice", "stringArray":
		kind, example = "list of strings", `["..."]`
	default:
		kind, example = "string", `"..."`
	}
	if _, byDefault := usageOf(f); f.DefValue != "" && f.DefValue == byDefault {
		if example = quotedValue(f, byDefault); kind == "duration" {
			example = tomlString(byDefault)
		}
	}
	if shown, ok := optionExamples()[f.Name]; ok {
		example = shown
	}
	return kind, f.Name + " = " + example
}

// optionExamples returns example values for options whose type does not determine a good example.
func optionExamples() map[string]string {
	return map[string]string{
		"admin": `"127.0.0.1:4501"`, "ask-others": `"own"`, "answer-cache": "64", "asks": "256", "backup.at": `"03:00"`, "backup.every": `"24h"`,
		"backup.hook": `["rclone", "copy", "{backup}", "remote:nomen"]`, "backup.to": `"/srv/backups/nomen"`,
		"connect": "[443]", "connections": "5000", "connections-per-address": "500",
		"country-db": `"/usr/share/GeoIP/country.mmdb"`, "country-header": `"CF-IPCountry"`, "data": `"/srv/names"`,
		"default-resolver": `"resolver.example.org:4500"`, "dns": `["192.0.2.53"]`, "drain": `"5s"`, "gopher": `":70"`,
		"gopher-host": `"gopher.example.org:70"`, "host": `["names.example.org"]`, "links.contact": `"library@example.org"`, "links.own": `["repository.example.org=20"]`, "links.probe": `["https://www.example.org/"]`, "links.proxy": `"http://proxy.example.net:3128"`,
		"links.availability": `"https://archive.org/wayback/available"`, "links.timegate": `"https://web.archive.org/web/"`, "links.archive-host": `["archive.example.org"]`, "log.key": `"/etc/nomen/log.key"`, "log.witness": `["witness.example.org+a1b2c3d4+BGx... https://witness.example.org"]`, "log.quorum": "2", "log.timeout": `"5s"`, "listen": "4500", "memory": "2048",
		"own-users": `["192.0.2.0/24"]`, "proxy": `"own"`, "public-table": `"none"`, "public-url": `"https://urn.example.org"`,
		"reports.to": `["library@example.org"]`, "reports.from": `"names@example.org"`, "reports.smtp": `"smtps://mail.example.org"`,
		"reports.smtp-user": `"names"`, "reports.smtp-password-file": `"credential:smtp"`, "reports.sendmail": `"/usr/sbin/sendmail"`,
		"reports.webhook": `"https://chat.example.org/hooks/names"`, "reports.webhook-secret-file": `"credential:webhook"`,
		"registry": `"/etc/nomen/registry.json"`, "store": `"postgres://db.example.org/nomen"`, "table": `"/etc/nomen/resolvers"`,
		"acme-directory": `"https://acme.example.org/directory"`, "acme-eab-id": `"kid-1"`, "acme-eab-key-file": `"/etc/nomen/eab.key"`,
		"acme-email": `"names@example.org"`, "acme-root": `"/etc/nomen/root.pem"`, "tls": `"acme"`,
		"sign-in.url": `"https://names.example.org"`, "sign-in.contact": `"names@example.org"`, "sign-in.header": `"X-Remote-User"`,
		"sign-in.proxies": `["unix:/run/nomen/pages.sock"]`, "sign-in.ca": `"/etc/nomen/proxies.pem"`,
		"site.name": `"Example University Library"`, "site.logo": `"/etc/nomen/logo.svg"`, "site.accent": `"#7a1fa2"`, "site.background": `"#fffdf8"`,
		"site.accent-dark": `"#d9a8f0"`, "site.background-dark": `"#101418"`, "site.footer": `"A service of Example University Library"`,
		"site.links": `["Privacy https://www.example.org/privacy"]`, "site.contact": `"mailto:names@example.org"`,
		"tls-cert": `"/etc/ssl/names.pem"`, "tls-key": `"/etc/ssl/private/names.key"`, "trusted-proxy": `["10.0.0.0/8"]`,
	}
}

func (k configKey) text() string {
	var b strings.Builder
	row := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-12s %s\n", label+":", strings.ReplaceAll(value, "\n", "\n               "))
		}
	}
	fmt.Fprintf(&b, "%s: %s\n", k.Key, k.Meaning)
	row("type", k.Type)
	row("default", k.Default)
	row("option", k.Option)
	row("environment", k.Variable)
	reload := "a change needs a restart"
	if k.Reload {
		reload = "'nomen reload' or SIGHUP changes it"
	}
	row("change", reload)
	row("example", k.Example)
	return strings.TrimSuffix(b.String(), "\n")
}

// tableKeys returns the keys in the tables of the configuration file. The descriptions for
// [[authority]] come from the schema of the admin API, which has the same fields.
func tableKeys() []configKey {
	return slices.Concat(authorityKeys(), listenKeys(), oidcKeys(), dialectKeys())
}

func listenKeys() []configKey {
	key := func(name, meaning, kind, byDefault, example string) configKey {
		return configKey{Key: "listen." + name, Meaning: meaning, Type: kind, Default: byDefault, Example: "[[listen]]\naddress = \":443\"\n" + example}
	}
	return []configKey{
		{Key: "listen.address", Meaning: "address of a listener: HOST:PORT, a port number, unix:PATH (admin only), or fd:NAME for a socket of systemd", Type: "string or number", Example: "[[listen]]\naddress = \":443\""},
		key("tls", "off, files or acme", "string", "off", `tls = "files"`),
		key("cert", "PEM file with the certificate, for tls = \"files\"", "string", "--tls-cert", `cert = "/etc/ssl/names.pem"`),
		key("key", "PEM file with the private key of the certificate", "string", "--tls-key", `key = "/etc/ssl/private/names.key"`),
		key("protocols", "what the listener serves: web, 1995, or admin alone", "list", "web and 1995", `protocols = ["web"]`),
		key("dialects", "protocols of other identifier services that the listener speaks, each described in a [[dialect]] table", "list", "none", "dialects = [\"handle\"]\n\n[[dialect]]\nname = \"handle\"\nauthorities = [\"hdl:20.500.9999\"]"),
	}
}

func authorityKeys() []configKey {
	type property struct {
		Type        string
		Description string
		ReadOnly    bool
		Enum        []string
	}
	var document struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]property }
		}
	}
	if err := json.Unmarshal(adminapi.OpenAPI, &document); err != nil {
		return nil
	}
	var all []configKey
	properties := document.Components.Schemas["Authority"].Properties
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p := properties[name]
		if p.ReadOnly || name == "redacted" {
			continue
		}
		k := configKey{Key: "authority." + name, Meaning: lowerFirst(strings.TrimSuffix(p.Description, ".")), Type: tomlType(p.Type), Reload: true}
		if len(p.Enum) > 0 {
			k.Type = "string"
			k.Meaning += " (" + strings.Join(slices.DeleteFunc(p.Enum, func(s string) bool { return s == "" }), ", ") + ")"
		}
		k.Example = "[[authority]]\nprefix = \"urn:dns:example.org\""
		if value := authorityExamples()[name]; value != "" {
			k.Example += "\n" + name + " = " + value
		}
		all = append(all, k)
	}
	return all
}

// tomlType converts the name of a JSON Schema type to the name of the TOML type.
func tomlType(kind string) string {
	switch kind {
	case "boolean":
		return "true or false"
	case "integer":
		return "number"
	case "array":
		return "list"
	case "object":
		return "table"
	}
	return "string"
}

func lowerFirst(s string) string {
	if len(s) > 1 && 'a' <= s[1] && s[1] <= 'z' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

func authorityExamples() map[string]string {
	return map[string]string{
		"owners": `["archive", "library"]`, "hosts": `["names.example.org"]`, "addresses": `["192.0.2.1"]`, "default": "true",
		"parents": `["urn:dns:org"]`, "children": `["urn:dns:labels.example.org"]`, "contact": `"mailto:names@example.org"`,
		"description": `"Albums"`, "list": "true", "default_service": `"I2C"`, "fold_case": "true", "redirect_status": "302",
		"rules":      `[{match = "issue-{n:d}", locations = [{url = "https://example.org/issues/{n}"}]}]`,
		"delegation": `{mode = "redirect", to = "https://resolver.example.org/{+name}"}`, "suffix": `"append"`, "access": `"denied"`,
		"access_note": `"Ask the archive."`, "services": `["I2L", "I2C"]`, "keywords": `{c = ["toc"]}`, "r_component": `{toc = "c=toc"}`,
		"q_component": `"ignore"`, "query": `"append"`, "fragment": "true", "fetch": "true", "choice": `"fixed"`, "failover": `"archive"`, "max_age": "3600",
		"commitment": `"Permanent: Stable Content"`, "check_digit": `"luhn"`, "mint": `["x{seq}"]`,
	}
}
