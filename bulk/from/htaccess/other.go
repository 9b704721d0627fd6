package htaccess

import "strings"

// other returns the reason for refusing a directive that is not a redirect, or "" if the directive
// has no effect on redirects.
func (c *converter) other(l line) string {
	args := arguments(l.rest)
	switch l.name {
	case "rewriteengine":
		if len(args) == 0 || !strings.EqualFold(args[0], "on") && !strings.EqualFold(args[0], "off") {
			return "must be on or off: Apache rejects the file"
		}
		return "" // further arguments are ignored
	case "rewritebase":
		if len(args) != 1 || !strings.HasPrefix(args[0], "/") {
			return "must have one path: Apache rejects the file"
		}
		return ""
	case "options", "addtype", "addencoding", "addcharset", "adddefaultcharset", "addlanguage", "defaultlanguage", "forcetype",
		"addhandler", "removehandler", "removetype", "directoryindex", "indexoptions", "indexignore", "fileetag", "expiresactive", "expiresbytype", "expiresdefault",
		"languagepriority", "forcelanguagepriority", "acceptpathinfo", "serversignature", "addoutputfilter", "addoutputfilterbytype",
		"setoutputfilter", "addinputfilter", "setinputfilter", "multiviewsmatch", "adddescription", "addicon", "addiconbytype",
		"headername", "readmename", "indexorderdefault", "indexstylesheet", "enablemmap", "enablesendfile", "contentdigest",
		"limitrequestbody", "limitxmlrequestbody", "php_flag", "php_value", "removecharset", "removeencoding", "removelanguage",
		"removeinputfilter", "removeoutputfilter", "modmimeusepathinfo", "directoryindexredirect", "directorycheckhandler", "cgimapextension",
		"cgipassauth", "cgivar", "defaulttype", "scriptinterpretersource", "rlimitcpu", "rlimitmem", "rlimitnproc", "xbithack",
		"ssietag", "ssilastmodified", "sethandler", "addalt", "addaltbyencoding", "addaltbytype", "addiconbyencoding", "defaulticon",
		"indexheadinsert", "indexignorereset", "imapbase", "imapdefault", "imapmenu", "metadir", "metafiles", "metasuffix":
		return "" // about files, which the directories do not contain
	case "directoryslash":
		return "" // a prefix without its slash is not a name of the authority
	case "header":
		return headerReason(args)
	case "setenvif", "setenvifnocase", "browsermatch", "browsermatchnocase", "setenv", "unsetenv", "passenv":
		for _, arg := range args {
			name, _, _ := strings.Cut(strings.TrimPrefix(arg, "!"), "=")
			if name = strings.ToUpper(name); c.usesEnv[name] && c.noEnv[name] {
				return "the variable " + name + " is not supported"
			}
		}
		return ""
	case "require", "order", "allow", "deny", "satisfy":
		text := strings.ToLower(strings.Join(strings.Fields(l.rest), " "))
		if text == "all granted" || l.name == "order" || l.name == "allow" && text == "from all" || l.name == "satisfy" {
			return ""
		}
		return "rules do not restrict access: set the access of the authority"
	case "rewriteoptions":
		return "rules are not inherited from other directories"
	}
	return "unsupported directive"
}

// headerReason returns the reason for refusing a Header directive, or "". It accepts the Vary field
// and the CORS fields, because nomen sends these fields itself.
func headerReason(args []string) string {
	for len(args) > 0 && (strings.EqualFold(args[0], "always") || strings.EqualFold(args[0], "onsuccess")) {
		args = args[1:]
	}
	if len(args) < 2 {
		return "must have an action and a field"
	}
	field := strings.ToLower(strings.TrimSuffix(args[1], ":"))
	switch strings.ToLower(args[0]) {
	case "set", "add", "append", "merge", "setifempty":
		if field == "vary" || strings.HasPrefix(field, "access-control-") && (len(args) < 3 || field != "access-control-allow-credentials" && (field != "access-control-allow-origin" || args[2] == "*")) {
			return ""
		}
	}
	return "rules do not set fields of the response"
}
