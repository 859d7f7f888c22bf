import Foundation
import GatewayKit
import Testing
import Web

@testable import Gateway

/// The file with the password of the pages.
@Suite struct PasswordToolTests {
    @Test func `the file is its owner's, has a hash and no password, and replaces an earlier one`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "password-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try PasswordTool.write("earlier", to: path)
        let hash = try PasswordTool.hash(of: "open sesame")
        try PasswordTool.write(hash, to: path)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text == "\(hash)\n" && !text.contains("sesame"))
        #expect(FileMode(of: path)?.bits == 0o600)
        let found = try PasswordHash(String(text.dropLast()))
        #expect(found.matches("open sesame"))
    }

    @Test func `a password that is too short is refused, and a place without room is named`() {
        #expect(throws: ToolFailure.self) { _ = try PasswordTool.hash(of: "short") }
        let failure = #expect(throws: ToolFailure.self) { try PasswordTool.write("a", to: "/nowhere/password") }
        #expect(failure?.description.hasPrefix("/nowhere/password.new cannot be written: ") == true)
    }
}
