// The output of tools, as a quantity or as none; and the powers that a node can have.
#include "meter/parts/printed_quantity.hpp"

#include <gmock/gmock.h>

#include "meter/parts/plausible_power.hpp"

namespace lull::meter {
namespace {

using testing::HasSubstr;

double watts(std::string_view text) { return quantity_of(text, answer_in::watts).number.value_or(-1); }
double at_end(std::string_view text) { return quantity_at_end_of(text, answer_in::watts).number.value_or(-1); }

TEST(printed_quantity, a_number_has_a_unit_or_none) {
  EXPECT_DOUBLE_EQ(watts("430"), 430);
  EXPECT_DOUBLE_EQ(watts(" 430 Watts\n"), 430);
  EXPECT_DOUBLE_EQ(watts("0.43 kW"), 430);
  EXPECT_DOUBLE_EQ(watts("430000mW"), 430);
  EXPECT_DOUBLE_EQ(watts("\"211.5 W\""), 211.5);
  EXPECT_DOUBLE_EQ(watts("4.3e+2"), 430);
  EXPECT_DOUBLE_EQ(*quantity_of("1.5 kWh", answer_in::watt_hours).number, 1500);
  EXPECT_DOUBLE_EQ(*quantity_of("3600 J", answer_in::watt_hours).number, 1);
}

TEST(printed_quantity, a_number_may_have_a_sign_before_it_and_in_its_exponent) {
  EXPECT_DOUBLE_EQ(watts("+5 W"), 5);
  EXPECT_DOUBLE_EQ(watts("-5 W"), -5);
  EXPECT_DOUBLE_EQ(watts("-1,234 W"), -1234);
  EXPECT_DOUBLE_EQ(watts("5e-1 kW"), 500);
  EXPECT_DOUBLE_EQ(watts("+5E+1"), 50);
}

TEST(printed_quantity, commas_part_thousands_and_nothing_else) {
  EXPECT_DOUBLE_EQ(watts("1,234 W"), 1234);
  EXPECT_DOUBLE_EQ(watts("12,345,678 mW"), 12345.678);
  for (const char* text : {"430,5", "1,2345", "1234,567", ",5", "1.234,5"}) EXPECT_DOUBLE_EQ(watts(text), -1) << text;
}

TEST(printed_quantity, what_is_no_single_number_of_this_kind_is_none) {
  for (const char* text : {"", "W", "211 W 1.2 A", "211 4211", "430 V", "430 mw", "430 Wh", "12 345", "1e999", "nan",
                           "0x1a0", "430W (average)", "-"})
    EXPECT_DOUBLE_EQ(watts(text), -1) << text;
  EXPECT_THAT(quantity_of("430 Wh", answer_in::watts).failure, HasSubstr("a unit of energy"));
  EXPECT_THAT(quantity_of("430 1", answer_in::watts).failure, HasSubstr("more than one number"));
}

TEST(printed_quantity, a_label_may_stand_before_it_and_an_error_is_none) {
  EXPECT_DOUBLE_EQ(at_end("SNMPv2-SMI::enterprises.13742.1 = Gauge32: 4211\n"), 4211);
  EXPECT_DOUBLE_EQ(at_end("SNMPv2-SMI::enterprises.13742.1 = STRING: \"0.43 kW\""), 430);
  EXPECT_DOUBLE_EQ(at_end("asked at 12:30\noutlet 3: 211 W\n\n"), 211);
  EXPECT_DOUBLE_EQ(at_end("power=211"), 211);
  EXPECT_DOUBLE_EQ(at_end("=211"), 211);
  for (const char* text :
       {"Timeout: No Response from 10.0.0.7", "X = No Such Instance currently exists at this OID", "Error: 404",
        "at 12:30", "5:30", "X = Hex-STRING: 00 D3", "HTTP/1.1 503", "login failed: 3", "X = \"\"", "outlet 3 211"})
    EXPECT_DOUBLE_EQ(at_end(text), -1) << text;
}

TEST(printed_quantity, bytes_that_are_no_utf8_become_characters) {
  EXPECT_EQ(as_utf8("f\xc3\xbcr"), "f\xc3\xbcr");
  EXPECT_EQ(as_utf8("f\xfcr"), "f\xc3\xbcr");
  EXPECT_EQ(as_utf8("\xed\xa0\x80"), "\xc3\xad\xc2\xa0\xc2\x80");
  EXPECT_EQ(shown("a\nb"), "'a b'");
}

// Converts each byte to its Latin-1 character.
std::string as_latin1(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    result += static_cast<char>(byte < 0xc0 ? 0xc2 : 0xc3);
    result += static_cast<char>(byte < 0xc0 ? byte : byte - 0x40);
  }
  return result;
}

TEST(printed_quantity, characters_of_every_length_stay_as_they_are) {
  for (const std::string_view text :
       {"\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xe2\x82\xac", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbd",
        "\xf0\x90\x80\x80", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(as_utf8(text), text);
}

TEST(printed_quantity, bytes_of_no_character_are_taken_for_latin1_one_by_one) {
  for (const std::string_view text : {"\x80", "\xbf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe2\x82", "\xf0\x9f\x98"})
    EXPECT_EQ(as_utf8(text), as_latin1(text));
  EXPECT_EQ(as_utf8("\xe2\x82 W"), as_latin1("\xe2\x82") + " W") << "a character that is cut off";
}

TEST(printed_quantity, what_is_shown_is_one_short_line_of_whole_characters) {
  EXPECT_EQ(shown(" a\tb\x7f\x01 c "), "'a b   c'");
  EXPECT_EQ(shown(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
  EXPECT_EQ(shown(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
  EXPECT_EQ(shown(std::string(59, 'x') + "\xe2\x82\xac"), "'" + std::string(59, 'x') + "...'");
}

TEST(plausible_power, a_power_out_of_range_is_doubted) {
  plausible_power node({1, 20000});
  EXPECT_EQ(node.doubt(430), "");
  EXPECT_EQ(plausible_power({1, 20000}).doubt(1), "") << "the ends of the range are powers of a node";
  EXPECT_EQ(plausible_power({1, 20000}).doubt(20000), "");
  for (const double watts : {0.0, 0.5, 65535.0, -3.0})
    EXPECT_THAT(node.doubt(watts), HasSubstr("not a plausible power of a node"));
}

TEST(plausible_power, a_jump_is_doubted_until_it_lasts) {
  plausible_power node({1, 20000});
  EXPECT_EQ(node.doubt(60), "");
  EXPECT_EQ(node.doubt(900), "");  // graphics cards begin to work
  EXPECT_THAT(node.doubt(19000), HasSubstr("an implausible jump"));
  EXPECT_EQ(node.doubt(910), "");
  EXPECT_NE(node.doubt(3), "");
  EXPECT_NE(node.doubt(4), "");
  EXPECT_EQ(node.doubt(3), "") << "it lasts: the readings before may have been the wrong ones";
  EXPECT_EQ(node.doubt(4), "");
}

}  // namespace
}  // namespace lull::meter
