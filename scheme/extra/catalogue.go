package extra

import (
	"slices"
	"sync"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

// Catalogue returns the catalogue [scheme.Standard] with the rules of this package added.
func Catalogue() scheme.Catalogue { return catalogue() }

var catalogue = sync.OnceValue(func() scheme.Catalogue {
	c, err := scheme.Standard().With(schemes()...)
	if err != nil {
		panic("scheme/extra: internal error: " + err.Error())
	}
	return c
})

func schemes() []scheme.Scheme {
	return slices.Concat([]scheme.Scheme{
		ws, wss,
		ark, doi, hdl, info, tag,
		data,
		tel, sms, geo,
		javascript, vbscript, viewSource, feed, webcal, blob, filesystem, jar, about,
		sip, sips, acct, im, pres, xmpp,
		ldap, ldaps, imap, pop,
		ni, nih, magnet, did, swh, purl,
		ssh, sftp, git, svn, rsync, jdbc,
		dns, dict, ipp, ipps, snmp, tftp, nfs, opaquelocktoken, pkcs11, payto,
	}, tunnelled(), constrained(), relays(), z3950(), servers())
}

func inPath(chars, meaning string) scheme.Special {
	return scheme.Special{Component: uri.ComponentPath, Chars: chars, Meaning: meaning}
}

func inQuery(chars, meaning string) scheme.Special {
	return scheme.Special{Component: uri.ComponentQuery, Chars: chars, Meaning: meaning}
}

func inUserinfo(chars, meaning string) scheme.Special {
	return scheme.Special{Component: uri.ComponentUserinfo, Chars: chars, Meaning: meaning}
}
