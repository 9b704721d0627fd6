package extra

import "testing"

// Most valid examples follow RFC 6920, 8.
func TestDigests(t *testing.T) {
	const hash = "f4OxZX_x_FO5LcGBSKHWXfwtSx-j1ncoSt3SABJtkGk"
	for _, tt := range []sample{
		{"ni:///sha-256;" + hash, "algorithm=sha-256 value=" + hash, "", ""},
		{"ni://Example.com/sha-256;" + hash, "authority=Example.com algorithm=sha-256 value=" + hash, "ni://example.com/sha-256;" + hash, ""},
		{"ni:///sha-256-32;f4OxZQ?ct=text/plain", "algorithm=sha-256-32 value=f4OxZQ attribute_ct=text/plain", "", ""},
		{"ni:///sha-256-120;f4OxZX_x_FO5LcGBSKHW", "algorithm=sha-256-120 value=f4OxZX_x_FO5LcGBSKHW", "", ""},
		{"ni:///sha-256-64;f4OxZX_x_FM?a=b&c=", "algorithm=sha-256-64 value=f4OxZX_x_FM attribute_a=b attribute_c=", "", ""},
		{"ni:///sha-256-64;f4OxZX_x_FN", "algorithm=sha-256-64 value=f4OxZX_x_FN", "", "27 RFC 4648, 3.5"},
		{"ni:///x-mine;abc", "algorithm=x-mine value=abc", "", "6 RFC 6920, 9.4: hash algorithms"},
		{"ni:sha-256;" + hash, "", "", "3 RFC 6920, 3: NI-URI"},
		{"ni:/sha-256;" + hash, "", "", "3 RFC 6920, 3: NI-URI"},
		{"ni://sha-256;" + hash, "", "", "56 RFC 6920, 3: NI-URI"},
		{"ni:///sha-256", "", "", "13 RFC 6920, 3: NI-URI"},
		{"ni:///;" + hash, "", "", "6 RFC 6920, 3: NI-URI"},
		{"ni:///sha-256;", "", "", "14 RFC 6920, 3: val"},
		{"ni:///sha-256;f4O", "", "", "14 RFC 6920, 9.4: hash algorithms"},
		{"ni:///sha-256-128;" + hash, "", "", "18 RFC 6920, 9.4: hash algorithms"},
		{"ni:///sha-256-32;f4Ox+Q", "", "", "21 RFC 6920, 3: val"},
		{"ni:///sha-256-32;f4OxZQ==", "", "", "23 RFC 6920, 3: val"},
		{"ni:///sha:256;f4Ox", "", "", "9 RFC 6920, 3: alg"},
		{"ni:///sha-256-32;f4OxZQ?ct", "", "", "24 RFC 6920, 3: query parameters"},
		{"ni:///sha-256-32;f4OxZQ#x", "algorithm=sha-256-32 value=f4OxZQ fragment=x", "", "23 RFC 6920, 3: NI-URI"},

		{"nih:sha-256-120;5326-9057-e12f-e2b7-4ba0-7c89-2560-a2;f", "algorithm=sha-256-120 value=5326-9057-e12f-e2b7-4ba0-7c89-2560-a2 checkdigit=f", "nih:sha-256-120;53269057e12fe2b74ba07c892560a2;f", ""},
		{"nih:sha-256-32;53269057;b", "algorithm=sha-256-32 value=53269057 checkdigit=b", "", ""},
		{"nih:3;532690-57e12f-e2b74b-a07c89-2560a2;f", "algorithm=3 value=532690-57e12f-e2b74b-a07c89-2560a2 checkdigit=f", "nih:sha-256-120;53269057e12fe2b74ba07c892560a2;f", ""},
		{"nih:6;5326-9057", "algorithm=6 value=5326-9057", "nih:sha-256-32;53269057;b", ""},
		{"nih:99;00", "algorithm=99 value=00", "nih:99;00;0", "4 RFC 6920, 9.4: hash algorithms"},
		{"nih:sha-256-32;53269075;b", "", "", "24 RFC 6920, 7: checkdigit"},
		{"nih:sha-256-32;53269057;bb", "", "", "24 RFC 6920, 7: checkdigit"},
		{"nih:sha-256-32;5326905;", "", "", "23 RFC 6920, 7: checkdigit"},
		{"nih:sha-256-32;5326905", "", "", "15 RFC 6920, 9.4: hash algorithms"},
		{"nih:6;532690AB", "", "", "12 RFC 6920, 7: sepval"},
		{"nih:6;--", "", "", "6 RFC 6920, 7: sepval"},
		{"nih:6", "", "", "5 RFC 6920, 7: humanname"},
		{"nih:;53", "", "", "4 RFC 6920, 7: humanname"},
		{"nih:///sha-256-32;53269057", "", "", "4 RFC 6920, 7: humanname"},
		{"nih:6;53269057?ct=x", "", "", "14 RFC 6920, 7: humanname"},
		{"nih:6;53269057#X", "algorithm=6 value=53269057 fragment=X", "nih:sha-256-32;53269057;b#X", "14 RFC 6920, 7: humanname"},

		{"magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a&dn=a&xl=10", "parameter_xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a parameter_dn=a parameter_xl=10", "", ""},
		{"magnet:?xt=urn:btih:YEX6DQDLXISUVHOJ6UM3GNNKPQJWPKEK&tr.1=http%3A%2F%2Ft.example&x.pe=1.2.3.4:5", "parameter_xt=urn:btih:YEX6DQDLXISUVHOJ6UM3GNNKPQJWPKEK parameter_tr.1=http%3A%2F%2Ft.example parameter_x.pe=1.2.3.4:5", "", ""},
		{"magnet:?xt.1=urn:sha1:YNCKHTQCWBTRNJIV4WNAE52SJUQCZO5C&xt.2=urn:tree:tiger:7N5OAMRNGMSSEUE3ORHOKWN4WWIQ5X4EBOOTLJY", "parameter_xt.1=urn:sha1:YNCKHTQCWBTRNJIV4WNAE52SJUQCZO5C parameter_xt.2=urn:tree:tiger:7N5OAMRNGMSSEUE3ORHOKWN4WWIQ5X4EBOOTLJY", "", ""},
		{"magnet:?xt=urn:btmh:1220caf1e1c30e81cb361b9ee167c4aa64228a7fa4fa9f6105232b28ad099f3a302e", "parameter_xt=urn:btmh:1220caf1e1c30e81cb361b9ee167c4aa64228a7fa4fa9f6105232b28ad099f3a302e", "", ""},
		{"magnet:?xt=urn:x-new:1", "parameter_xt=urn:x-new:1", "", "11 BEP 9: xt"},
		{"magnet:?kt=a+b", "parameter_kt=a+b", "", ""},
		{"magnet:?dn=a", "parameter_dn=a", "", "8 MAGNET-URI Project: magnet:?"},
		{"magnet:?xt=urn:btih:c12f", "", "", "20 BEP 9: xt"},
		{"magnet:?xt=urn:btih:g12fe1c06bba254a9dc9f519b335aa7c1367a88a", "", "", "20 BEP 9: xt"},
		{"magnet:?xt=urn:btih:1EX6DQDLXISUVHOJ6UM3GNNKPQJWPKEK", "", "", "20 BEP 9: xt"},
		{"magnet:?xt=urn:btmh:1320caf1e1c30e81cb361b9ee167c4aa64228a7fa4fa9f6105232b28ad099f3a302e", "", "", "20 BEP 9: xt"},
		{"magnet:?xt=c12fe1c06bba254a9dc9f519b335aa7c1367a88a", "", "", "11 BEP 9: xt"},
		{"magnet:?xl=1k&kt=x", "", "", "11 MAGNET-URI Project: xl"},
		{"magnet:?xt", "", "", "8 MAGNET-URI Project: magnet:?"},
		{"magnet:xt=urn:btih:c12f", "", "", "7 MAGNET-URI Project: magnet:?"},
		{"magnet:a?kt=x", "", "", "7 MAGNET-URI Project: magnet:?"},
		{"magnet://?kt=x", "", "", "7 MAGNET-URI Project: magnet:?"},
	} {
		tt.check(t)
	}
}

// Most valid examples follow DID Core, 3.
func TestDIDs(t *testing.T) {
	for _, tt := range []sample{
		{"did:example:123456789abcdefghi", "method=example id=123456789abcdefghi", "", ""},
		{"did:example:123456/path?versionId=1#key", "method=example id=123456 path=/path parameter_versionid=1 fragment=key", "", ""},
		{"did:web:example.com%3A3000:user:alice", "method=web id=example.com%3A3000:user:alice", "", ""},
		{"did:example:123?service=agent&relativeRef=/credentials%23degree", "method=example id=123 parameter_service=agent parameter_relativeref=/credentials%23degree", "", ""},
		{"did:example:123?versionTime=2021-05-10T17:00:00Z", "method=example id=123 parameter_versiontime=2021-05-10T17:00:00Z", "", ""},
		{"did:a::b", "method=a id=:b", "", ""},
		{"did:Example:1", "", "", "4 W3C DID Core, 3.1: method-name"},
		{"did:ex-ample:1", "", "", "6 W3C DID Core, 3.1: method-name"},
		{"did:example", "", "", "11 W3C DID Core, 3.1: did"},
		{"did:", "", "", "4 W3C DID Core, 3.1: method-name"},
		{"did::x", "", "", "4 W3C DID Core, 3.1: method-name"},
		{"did:example:", "", "", "12 W3C DID Core, 3.1: method-specific-id"},
		{"did:example:a:", "", "", "14 W3C DID Core, 3.1: method-specific-id"},
		{"did:example:/a", "", "", "12 W3C DID Core, 3.1: method-specific-id"},
		{"did:example:a@b", "", "", "13 W3C DID Core, 3.1: method-specific-id"},
		{"did://example:1", "", "", "4 W3C DID Core, 3.1: did"},
		{"did:example:1?versionTime=2021-05-10", "", "", "14 W3C DID Core, 3.2: did-url: versionTime"},
		{"did:example:1?versionTime=2021-05-10T17:00:00.5Z", "", "", "14 W3C DID Core, 3.2: did-url: versionTime"},
		{"did:example:1?versionTime", "", "", "14 W3C DID Core, 3.2: did-url: versionTime"},
	} {
		tt.check(t)
	}
}
