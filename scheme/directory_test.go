package scheme

import "testing"

// Most of the good ones have the forms of RFC 4516, 4.
func TestLDAP(t *testing.T) {
	for _, tt := range []sample{
		{"ldap://ldap1.example.net", "host=ldap1.example.net", "ldap://ldap1.example.net/", ""},
		{"ldap:///o=University%20of%20Michigan,c=US", "host= dn=o=University%20of%20Michigan,c=US", "", ""},
		{"ldap://ldap1.example.net/o=University%20of%20Michigan,c=US?postalAddress", "host=ldap1.example.net dn=o=University%20of%20Michigan,c=US attributes=postalAddress", "", ""},
		{"ldap://ldap1.example.net:6666/o=U,c=US??sub?(cn=Babs%20Jensen)", "host=ldap1.example.net port=6666 dn=o=U,c=US attributes= scope=sub filter=(cn=Babs%20Jensen)", "", ""},
		{"LDAP://ldap1.example.com/c=GB?objectClass?ONE", "host=ldap1.example.com dn=c=GB attributes=objectClass scope=ONE", "ldap://ldap1.example.com/c=GB?objectClass?one", ""},
		{"ldap://ldap2.example.com/o=Question%3f,c=US?mail", "host=ldap2.example.com dn=o=Question%3f,c=US attributes=mail", "ldap://ldap2.example.com/o=Question%3F,c=US?mail", ""},
		{"ldap://ldap3.example.com/o=Babsco,c=US???(four-octet=%5c00%5c00%5c00%5c04)", "host=ldap3.example.com dn=o=Babsco,c=US attributes= scope= filter=(four-octet=%5c00%5c00%5c00%5c04)", "ldap://ldap3.example.com/o=Babsco,c=US???(four-octet=%5C00%5C00%5C00%5C04)", ""},
		{"ldap://ldap.example.com/o=An%20Example%5C2C%20Inc.,c=US", "host=ldap.example.com dn=o=An%20Example%5C2C%20Inc.,c=US", "", ""},
		{"ldap:///??sub??e-bindname=cn=Manager%2cdc=example%2cdc=com", "host= dn= attributes= scope=sub filter= extensions=e-bindname=cn=Manager%2cdc=example%2cdc=com", "ldap:///??sub??e-bindname=cn=Manager%2Cdc=example%2Cdc=com", ""},
		{"ldap:///??sub??!e-bindname=x", "host= dn= attributes= scope=sub filter= extensions=!e-bindname=x", "", "15 RFC 4516, 2: critical extension"},
		{"ldap://h:389/dc=a+ou=b???", "host=h port=389 dn=dc=a+ou=b attributes= scope= filter=", "ldap://h/dc=a+ou=b", ""},
		{"ldap://h/?*,cn;lang-de,1.1?base?(&(a=b)(!(c%3E=d))(%7C(e=f)(g~=%5C28)))", "host=h dn= attributes=*,cn;lang-de,1.1 scope=base filter=(&(a=b)(!(c%3E=d))(%7C(e=f)(g~=%5C28)))", "", ""},
		{"ldap://h/???(&)", "host=h dn= attributes= scope= filter=(&)", "", ""},
		{"ldaps://h:636/1.2.840=x", "host=h port=636 dn=1.2.840=x", "ldaps://h/1.2.840=x", ""},
		{"ldap:o=x", "", "", "5 RFC 4516, 2: ldapurl"},
		{"ldap://h?x", "", "", "8 RFC 4516, 2: ldapurl"},
		{"ldap://u@h/", "", "", "7 RFC 4516, 2: ldapurl"},
		{"ldap://h/??SUB?#X?", "host=h dn= attributes= scope=SUB filter= fragment=X?", "ldap://h/??sub#X?", "15 RFC 4516, 2: ldapurl"},
		{"ldap://h/University", "", "", "9 RFC 4514, 3: distinguishedName"},
		{"ldap://h/o=a,b", "", "", "13 RFC 4514, 3: distinguishedName"},
		{"ldap://h/=a", "", "", "9 RFC 4514, 3: distinguishedName"},
		{"ldap://h/o=a%5c", "", "", "12 RFC 4514, 3: distinguishedName"},
		{"ldap://h/o=a,", "", "", "13 RFC 4514, 3: distinguishedName"},
		{"ldap://h/o=a;c=b", "", "", "12 RFC 4514, 3: special"},
		{"ldap://h/o_x=a", "", "", "10 RFC 4514, 3: attributeType"},
		{"ldap://h/o=%00", "", "", "11 RFC 4516, 2.1"},
		{"ldap://h/?a,,b", "", "", "12 RFC 4516, 2: attrdesc"},
		{"ldap://h/?a_b", "", "", "11 RFC 4516, 2: attrdesc"},
		{"ldap://h/??tree", "", "", "11 RFC 4516, 2: scope"},
		{"ldap://h/???cn=x", "", "", "12 RFC 4515, 3: filter"},
		{"ldap://h/???(cn=x", "", "", "17 RFC 4515, 3: filter"},
		{"ldap://h/???(cn=x)(cn=y)", "", "", "18 RFC 4515, 3: filter"},
		{"ldap://h/???()", "", "", "12 RFC 4515, 3: filter"},
		{"ldap://h/???(&(cn))", "", "", "14 RFC 4515, 3: filter"},
		{"ldap://h/???(cn=%00)", "", "", "16 RFC 4516, 2.1"},
		{"ldap://h/????a?b", "", "", "14 RFC 4516, 2: ldapurl"},
		{"ldap://h/????", "", "", "13 RFC 4516, 2: extension"},
		{"ldap://h/????a_b=c", "", "", "14 RFC 4516, 2: extype"},
	} {
		tt.check(t)
	}
}

// Most of the good ones have the forms of RFC 5092, 9 and RFC 2384, 7.
func TestMailStores(t *testing.T) {
	const token = "91354a473744909de610943775f92038"
	for _, tt := range []sample{
		{"imap://minbari.example.org/gray-council;UIDVALIDITY=385759045/;UID=20/;PARTIAL=0.1024", "host=minbari.example.org mailbox=gray-council uidvalidity=385759045 uid=20 partial=0.1024", "", ""},
		{"imap://psicorp.example.org/~peter/%E6%97%A5%E6%9C%AC%E8%AA%9E", "host=psicorp.example.org mailbox=~peter/%E6%97%A5%E6%9C%AC%E8%AA%9E", "", ""},
		{"imap://;AUTH=GSSAPI@minbari.example.org/gray-council/;uid=20/;section=1.2", "auth=GSSAPI host=minbari.example.org mailbox=gray-council uid=20 section=1.2", "", ""},
		{"imap://;AUTH=*@minbari.example.org/gray%20council?SUBJECT%20shadows", "auth=* host=minbari.example.org mailbox=gray%20council search=SUBJECT%20shadows", "", ""},
		{"imap://john;AUTH=*@minbari.example.org/babylon5/station?charset%20UTF-8", "user=john auth=* host=minbari.example.org mailbox=babylon5/station search=charset%20UTF-8", "", ""},
		{"imap://joe@example.com/INBOX/;uid=20/;section=1.2;expire=2026-12-12T12:00:00Z;urlauth=submit+fred:internal:" + token, "user=joe host=example.com mailbox=INBOX uid=20 section=1.2 expire=2026-12-12T12:00:00Z urlauth=submit+fred:internal:" + token, "", ""},
		{"imap://joe@example.com/INBOX/;uid=1;urlauth=anonymous:internal:" + token, "user=joe host=example.com mailbox=INBOX uid=1 urlauth=anonymous:internal:" + token, "", ""},
		{"imap://example.com:143/", "host=example.com port=143", "imap://example.com/", ""},
		{"imap://example.com/a;UIDVALIDITY=1?x", "host=example.com mailbox=a uidvalidity=1 search=x", "", ""},
		{"imap:example.com", "", "", "5 RFC 5092, 11: imapurl"},
		{"imap://a:b@h/", "", "", "8 RFC 5092, 11: iuserinfo"},
		{"imap://a;x=y@h/", "", "", "8 RFC 5092, 11: iuserinfo"},
		{"imap://a;AUTH=@h/", "", "", "14 RFC 5092, 11: iuserinfo"},
		{"imap://@h/", "", "", "7 RFC 5092, 11: iuserinfo"},
		{"imap://h/;UID=1", "", "", "9 RFC 5092, 11: enc-mailbox"},
		{"imap://h/a%0D%0Ab", "", "", "10 RFC 5092, 11: enc-mailbox"},
		{"imap://h/a;UID=1", "", "", "10 RFC 5092, 11: imessagepart"},
		{"imap://h/a/;UIDVALIDITY=1", "", "", "11 RFC 5092, 11: imessagepart"},
		{"imap://h/a/;UID=0", "", "", "16 RFC 5092, 11: imessagepart"},
		{"imap://h/a/;UID=4294967296", "", "", "16 RFC 5092, 11: imessagepart"},
		{"imap://h/a/;UID=", "", "", "12 RFC 5092, 11: imessagepart"},
		{"imap://h/a/;SECTION=1", "", "", "12 RFC 5092, 11: imessagepart"},
		{"imap://h/a/;UID=1/;PARTIAL=1/;SECTION=1", "", "", "30 RFC 5092, 11: imessagepart"},
		{"imap://h/a/;UID=1/;UID=2", "", "", "19 RFC 5092, 11: imessagepart"},
		{"imap://h/a/;UID=1/;PARTIAL=1.0", "", "", "27 RFC 5092, 11: imessagepart"},
		{"imap://h/a/;UID=1;EXPIRE=2026-12-12;URLAUTH=anonymous:internal:" + token, "", "", "25 RFC 5092, 11: imessagepart"},
		{"imap://h/a/;UID=1;EXPIRE=2026-12-12T12:00:00Z", "", "", "45 RFC 5092, 11: iurlauth"},
		{"imap://h/a/;UID=1;URLAUTH=all:internal:" + token, "", "", "26 RFC 5092, 11: imessagepart"},
		{"imap://h/a/;UID=1;URLAUTH=authuser:internal:1234", "", "", "26 RFC 5092, 11: imessagepart"},
		{"imap://h/a/;UID=1;URLAUTH=authuser", "", "", "26 RFC 5092, 11: imessagepart"},
		{"imap://h/a;FOO=1", "", "", "11 RFC 5092, 11: imessagepart"},
		{"imap://h/a/;UID=1?x", "", "", "17 RFC 5092, 11: imessagelist"},
		{"imap://h/a?", "", "", "10 RFC 5092, 11: imessagelist"},
		{"imap://h/a#b", "host=h mailbox=a fragment=b", "", "10 RFC 5092, 11: imapurl"},

		{"pop://rg@mailsrv.qualcomm.com", "user=rg host=mailsrv.qualcomm.com", "", ""},
		{"pop://rg;AUTH=+APOP@mail.eudora.com:8110", "user=rg auth=+APOP host=mail.eudora.com port=8110", "", ""},
		{"pop://baz;AUTH=SCRAM-MD5@foo.bar:110", "user=baz auth=SCRAM-MD5 host=foo.bar port=110", "pop://baz;AUTH=SCRAM-MD5@foo.bar", ""},
		{"pop://h/", "host=h", "", "7 RFC 2384, ABNF: popurl"},
		{"pop://h/1", "", "", "7 RFC 2384, ABNF: popurl"},
		{"pop://h?x", "", "", "7 RFC 2384, ABNF: popurl"},
		{"pop:h", "", "", "4 RFC 2384, ABNF: popurl"},
		{"pop://a:b@h", "", "", "7 RFC 2384, ABNF: user-auth"},
	} {
		tt.check(t)
	}
}
