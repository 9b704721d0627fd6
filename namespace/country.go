package namespace

// countries are the officially assigned alpha-2 codes of ISO 3166-1.
const countries = "adaeafagaialamaoaqarasatauawaxazbabbbdbebfbgbhbibjblbmbnbobqbrbsbtbvbwbybz" +
	"cacccdcfcgchcickclcmcncocrcucvcwcxcyczdedjdkdmdodzeceeegeheresetfifjfkfmfofr" +
	"gagbgdgegfggghgiglgmgngpgqgrgsgtgugwgyhkhmhnhrhthuidieiliminioiqirisitjejmjojp" +
	"kekgkhkikmknkpkrkwkykzlalblclilklrlsltlulvlymamcmdmemfmgmhmkmlmmmnmompmqmrmsmtmumvmwmxmymz" +
	"nancnenfngninlnonpnrnunzompapepfpgphpkplpmpnprpsptpwpyqarerorsrurw" +
	"sasbscsdsesgshsisjskslsmsnsosrssstsvsxsysztctdtftgthtjtktltmtntotrtttvtwtz" +
	"uaugumusuyuzvavcvevgvivnvuwfwsyeytzazmzw"

// isCountry reports whether two letters are a country code.
func isCountry(a, b byte) bool {
	a, b = lower(a), lower(b)
	for i := 0; i < len(countries); i += 2 {
		if countries[i] == a && countries[i+1] == b {
			return true
		}
	}
	return false
}
