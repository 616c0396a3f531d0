"""When does a conversation open and close?"""
