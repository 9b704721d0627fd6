package extra

import "testing"

func TestNames(t *testing.T) {
	for _, tt := range []sample{
		{"ark:12148/btv1b8449691v", "naan=12148 name=btv1b8449691v", "", ""},
		{"ark:/12148/btv1b8449691v/f29", "naan=12148 name=btv1b8449691v component=f29", "ark:12148/btv1b8449691v/f29", "4 draft-kunze-ark, 2: ARK"},
		{"ark:12025/654-xz/321.fr.pdf?info", "naan=12025 name=654-xz component=321 variant=fr variant=pdf inflection=info", "ark:12025/654xz/321.fr.pdf?info", ""},
		{"ARK:1-2025/65//4.-.x/", "naan=1-2025 name=65 component= component=4 variant=- variant=x component=", "ark:12025/65/4.x", "4 draft-kunze-ark, 2.3: NAAN"},
		{"ark:12025/6?", "naan=12025 name=6 inflection=", "", ""},
		{"ark:12025/%c3%a9", "naan=12025 name=%c3%a9", "ark:12025/%C3%A9", ""},
		{"ark:99999999/x", "naan=99999999 name=x", "", "4 draft-kunze-ark, 2.3: NAAN"},
		{"ark://n2t.net/12025/6", "", "", "4 draft-kunze-ark, 2: ARK"},
		{"ark:12025", "", "", "9 draft-kunze-ark, 2: ARK"},
		{"ark:12025/", "", "", "10 draft-kunze-ark, 2.4: Name"},
		{"ark:12025/-./", "", "", "10 draft-kunze-ark, 2.4: Name"},
		{"ark:/-/x", "", "", "5 draft-kunze-ark, 2.3: NAAN"},
		{"ark:12.25/x", "", "", "6 draft-kunze-ark, 2.3: NAAN"},
		{"ark:12025/a:b", "", "", "11 draft-kunze-ark, 2.4: Name"},

		{"doi:10.1000/182", "prefix=10.1000 local_name=182", "", ""},
		{"DOI:10.1000/ABC%2fd%3CE%3e", "prefix=10.1000 local_name=ABC%2fd%3CE%3e", "doi:10.1000/abc/d%3Ce%3E", ""},
		{"doi:10.1000/a/..%2Fb", "prefix=10.1000 local_name=a/..%2Fb", "", ""},
		{"doi:10.1000.5/1", "prefix=10.1000.5 local_name=1", "", ""},
		{"doi:11.1000/182", "", "", "4 ISO 26324, 4.2.2: DOI prefix"},
		{"doi:10.1o00/182", "", "", "8 ISO 26324, 4.2.2: DOI prefix"},
		{"doi:10.1000", "", "", "11 RFC 3651, 2: Handle"},
		{"doi:10.1000/", "", "", "12 RFC 3651, 2: Handle"},
		{"doi://10.1000/182", "", "", "4 RFC 3651, 2: Handle"},
		{"doi:/10.1000/182", "", "", "4 RFC 3651, 2: Handle"},
		{"doi:", "", "", "4 RFC 3651, 2: Handle"},

		{"hdl:2027/mdp.39015012345678", "prefix=2027 local_name=mdp.39015012345678", "", ""},
		{"hdl:OUP.Journals/aB/c?noredirect", "prefix=OUP.Journals local_name=aB/c query=noredirect", "hdl:oup.journals/aB/c?noredirect", ""},
		{"hdl:20..27/x", "", "", "7 RFC 3651, 2: NamingAuthority"},
		{"hdl:20./x", "", "", "7 RFC 3651, 2: NamingAuthority"},

		{"info:ddc/22/eng//004.678", "namespace=ddc identifier=22/eng//004.678", "", ""},
		{"info:LCCN/2002022641", "namespace=LCCN identifier=2002022641", "info:lccn/2002022641", ""},
		{"info:sici/0363-0277(19950315)120%3A5%3C%3E1.0.TX%3B2-V#x", "namespace=sici identifier=0363-0277(19950315)120%3A5%3C%3E1.0.TX%3B2-V fragment=x", "info:sici/0363-0277(19950315)120%3A5%3C%3E1.0.TX%3B2-V#x", ""},
		{"info://ddc/22", "", "", "5 RFC 4452, 4.1: info-URI"},
		{"info:/ddc/22", "", "", "5 RFC 4452, 4.1: info-URI"},
		{"info:1dc/22", "", "", "5 RFC 4452, 4.1: namespace"},
		{"info:d_c/22", "", "", "6 RFC 4452, 4.1: namespace"},
		{"info:ddc", "", "", "8 RFC 4452, 4.1: info-URI"},
		{"info:ddc/", "", "", "9 RFC 4452, 4.1: identifier"},
		{"info:ddc//x", "", "", "9 RFC 4452, 4.1: identifier"},
		{"info:ddc/22?x", "", "", "11 RFC 4452, 4.1: info-URI"},
		{"info:", "", "", "5 RFC 4452, 4.1: info-URI"},

		{"tag:timothy@hpl.hp.com,2001:web/externalHome", "authority_name=timothy@hpl.hp.com date=2001 specific=web/externalHome", "", ""},
		{"tag:blogger.com,1999:blog-555?a#b", "authority_name=blogger.com date=1999 specific=blog-555?a fragment=b", "", ""},
		{"tag:example.org,2026-11:", "authority_name=example.org date=2026-11 specific=", "", ""},
		{"tag:example.org,2026-02-28:a:b,c", "authority_name=example.org date=2026-02-28 specific=a:b,c", "", ""},
		{"tag:Example.org,2026:a", "authority_name=Example.org date=2026 specific=a", "", "4 RFC 4151, 2.1"},
		{"tag:example.org,2026-01-01:a", "authority_name=example.org date=2026-01-01 specific=a", "", "16 RFC 4151, 2.1"},
		{"tag:example.org,2026-02-29:a", "", "", "16 RFC 4151, 2.1: date"},
		{"tag:example.org,26:a", "", "", "16 RFC 4151, 2.1: date"},
		{"tag:example.org,2026-1:a", "", "", "16 RFC 4151, 2.1: date"},
		{"tag:example.org,+026:a", "", "", "16 RFC 4151, 2.1: date"},
		{"tag:example.org", "", "", "15 RFC 4151, 2.1: tagURI"},
		{"tag:example.org,2026", "", "", "20 RFC 4151, 2.1: tagURI"},
		{"tag:-example.org,2026:a", "", "", "4 RFC 4151, 2.1: authorityName"},
		{"tag:example-.org,2026:a", "", "", "11 RFC 4151, 2.1: authorityName"},
		{"tag:example..org,2026:a", "", "", "12 RFC 4151, 2.1: authorityName"},
		{"tag:@example.org,2026:a", "", "", "4 RFC 4151, 2.1: authorityName"},
		{"tag:a+b@example.org,2026:a", "", "", "5 RFC 4151, 2.1: authorityName"},
		{"tag://example.org,2026:7", "", "", "4 RFC 4151, 2.1: tagURI"},
	} {
		tt.check(t)
	}
}
