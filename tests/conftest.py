"""How many examples properties try: many where everything is installed, few in the other runs."""

from hypothesis import settings

settings.register_profile("brief", max_examples=15)
