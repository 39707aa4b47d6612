"""Countries by code and English name.

Owns the ISO 3166-1 list (as the time zone database, which is in the public
domain, gives it) with the other names in use. Must not decide what counts as a
country beyond that list. ``validators.py`` reads it.
"""

from __future__ import annotations

from records.domain.normalise.text import fold

_TABLE = """
    AD Andorra; AE United Arab Emirates/UAE; AF Afghanistan; AG Antigua and Barbuda; AI Anguilla;
    AL Albania; AM Armenia; AO Angola; AQ Antarctica; AR Argentina; AS American Samoa; AT Austria;
    AU Australia; AW Aruba; AX Åland Islands/Aland Islands; AZ Azerbaijan;
    BA Bosnia and Herzegovina/Bosnia; BB Barbados; BD Bangladesh; BE Belgium; BF Burkina Faso;
    BG Bulgaria; BH Bahrain; BI Burundi; BJ Benin; BL Saint Barthélemy; BM Bermuda; BN Brunei;
    BO Bolivia; BQ Caribbean NL; BR Brazil; BS Bahamas/The Bahamas; BT Bhutan; BV Bouvet Island;
    BW Botswana; BY Belarus; BZ Belize; CA Canada; CC Cocos Islands;
    CD Democratic Republic of the Congo/DR Congo/DRC; CF Central African Rep.;
    CG Republic of the Congo/Congo; CH Switzerland; CI Côte d'Ivoire/Ivory Coast; CK Cook Islands;
    CL Chile; CM Cameroon; CN China; CO Colombia; CR Costa Rica; CU Cuba; CV Cape Verde/Cabo Verde;
    CW Curaçao/Curacao; CX Christmas Island; CY Cyprus; CZ Czech Republic/Czechia; DE Germany;
    DJ Djibouti; DK Denmark; DM Dominica; DO Dominican Republic; DZ Algeria; EC Ecuador; EE Estonia;
    EG Egypt; EH Western Sahara; ER Eritrea; ES Spain; ET Ethiopia; FI Finland; FJ Fiji;
    FK Falkland Islands; FM Micronesia; FO Faroe Islands; FR France; GA Gabon;
    GB United Kingdom/UK/Great Britain/Britain/England/Scotland/Wales/Northern Ireland; GD Grenada;
    GE Georgia; GF French Guiana; GG Guernsey; GH Ghana; GI Gibraltar; GL Greenland;
    GM Gambia/The Gambia; GN Guinea; GP Guadeloupe; GQ Equatorial Guinea; GR Greece;
    GS South Georgia and the South Sandwich Islands; GT Guatemala; GU Guam; GW Guinea-Bissau;
    GY Guyana; HK Hong Kong; HM Heard Island and McDonald Islands; HN Honduras; HR Croatia;
    HT Haiti; HU Hungary; ID Indonesia; IE Ireland; IL Israel; IM Isle of Man; IN India;
    IO British Indian Ocean Territory; IQ Iraq; IR Iran; IS Iceland; IT Italy; JE Jersey;
    JM Jamaica; JO Jordan; JP Japan; KE Kenya; KG Kyrgyzstan; KH Cambodia; KI Kiribati; KM Comoros;
    KN Saint Kitts and Nevis; KP North Korea; KR South Korea/Korea/Republic of Korea; KW Kuwait;
    KY Cayman Islands; KZ Kazakhstan; LA Laos; LB Lebanon; LC Saint Lucia; LI Liechtenstein;
    LK Sri Lanka; LR Liberia; LS Lesotho; LT Lithuania; LU Luxembourg; LV Latvia; LY Libya;
    MA Morocco; MC Monaco; MD Moldova; ME Montenegro; MF Saint Martin; MG Madagascar;
    MH Marshall Islands; MK North Macedonia; ML Mali; MM Myanmar/Burma; MN Mongolia; MO Macau;
    MP Northern Mariana Islands; MQ Martinique; MR Mauritania; MS Montserrat; MT Malta;
    MU Mauritius; MV Maldives; MW Malawi; MX Mexico; MY Malaysia; MZ Mozambique; NA Namibia;
    NC New Caledonia; NE Niger; NF Norfolk Island; NG Nigeria; NI Nicaragua;
    NL Netherlands/The Netherlands/Holland; NO Norway; NP Nepal; NR Nauru; NU Niue; NZ New Zealand;
    OM Oman; PA Panama; PE Peru; PF French Polynesia; PG Papua New Guinea; PH Philippines;
    PK Pakistan; PL Poland; PM Saint Pierre and Miquelon; PN Pitcairn; PR Puerto Rico; PS Palestine;
    PT Portugal; PW Palau; PY Paraguay; QA Qatar; RE Réunion/Reunion; RO Romania; RS Serbia;
    RU Russia/Russian Federation; RW Rwanda; SA Saudi Arabia; SB Solomon Islands; SC Seychelles;
    SD Sudan; SE Sweden; SG Singapore; SH Saint Helena; SI Slovenia; SJ Svalbard and Jan Mayen;
    SK Slovakia; SL Sierra Leone; SM San Marino; SN Senegal; SO Somalia; SR Suriname;
    SS South Sudan; ST São Tomé and Príncipe/Sao Tome and Principe; SV El Salvador; SX Sint Maarten;
    SY Syria; SZ Eswatini/Swaziland; TC Turks and Caicos Islands; TD Chad; TF French S. Terr.;
    TG Togo; TH Thailand; TJ Tajikistan; TK Tokelau; TL Timor-Leste/East Timor; TM Turkmenistan;
    TN Tunisia; TO Tonga; TR Turkey/Türkiye; TT Trinidad and Tobago; TV Tuvalu; TW Taiwan;
    TZ Tanzania; UA Ukraine; UG Uganda; UM US minor outlying islands;
    US United States/USA/United States of America/America; UY Uruguay; UZ Uzbekistan;
    VA Vatican City/Holy See; VC Saint Vincent and the Grenadines; VE Venezuela;
    VG British Virgin Islands; VI US Virgin Islands; VN Vietnam; VU Vanuatu; WF Wallis and Futuna;
    WS Samoa; YE Yemen; YT Mayotte; ZA South Africa; ZM Zambia; ZW Zimbabwe
"""


def _by_name() -> dict[str, str]:
    codes: dict[str, str] = {}
    for row in _TABLE.replace("\n    ", " ").strip().split("; "):
        code, _, names = row.partition(" ")
        for name in (code, *names.split("/")):
            codes[fold(name)] = code
    return codes


_CODES = _by_name()


def country_code(name: str) -> str | None:
    """Return the two-letter code of a country given by code or English name."""
    return _CODES.get(fold(name).rstrip("."))
